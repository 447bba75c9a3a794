#!/bin/sh
# Options only are Redis's.
case $1 in
  -*) exec redis-server "$@" ;;
  *) exec "$@" ;;
esac
