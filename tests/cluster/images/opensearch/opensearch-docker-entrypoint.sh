#!/bin/bash
# Starts the server with a setting for each variable whose name has a dot, such as cluster.name. It
# may also run on a disk that is nearly full.
set -eu
settings=(-Ecluster.routing.allocation.disk.threshold_enabled=false)
while IFS= read -r -d '' variable; do
  if [[ $variable =~ ^[a-z][a-z_]*(\.[a-z_]+)+= ]]; then settings+=("-E$variable"); fi
done </proc/self/environ
exec bin/opensearch "${settings[@]}"
