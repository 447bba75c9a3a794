#!/bin/sh
# Builds the image of collector and workers with docker, podman or buildah. All may be set:
#   IMAGE      its name; one with a registry in it can be pushed as it is
#   BASE       the image it is made from (see the Dockerfile)
#   ARCHIVE    write the image to this file as well
#   BUILDER    docker, podman or buildah; otherwise the first that works
#   PIP_CONF   a pip.conf, and
#   CA         a bundle of certificates, if packages come through a mirror or a proxy;
#              the image keeps neither
#   SOURCE     address of the source, for the label
set -eu
context=$(dirname "$0")

version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$context/__init__.py")
revision=$(git -C "$context" describe --always --abbrev=40 --dirty 2>/dev/null || echo unknown)
image=${IMAGE:-iot-database-benchmark:$version}
# Kubernetes reads a name without a registry as Docker Hub's; podman and buildah, as localhost's.
case $image in */*) name=$image ;; *) name=docker.io/library/$image ;; esac

# An installed docker may be without its daemon.
builder=
for tool in ${BUILDER:-docker podman buildah}; do
  if "$tool" info >/dev/null 2>&1; then builder=$tool && break; fi
done
if [ -z "$builder" ]; then
  echo "the image needs a working ${BUILDER:-docker, podman or buildah} to be built, and there is none:" \
    "start docker's daemon, or install buildah (Debian: apt-get install buildah)" >&2
  exit 1
fi

set -- --build-arg "VERSION=$version" --build-arg "REVISION=$revision"
[ -z "${SOURCE:-}" ] || set -- "$@" --build-arg "SOURCE=$SOURCE"
[ -z "${BASE:-}" ] || set -- "$@" --build-arg "BASE=$BASE"
[ -z "${PIP_CONF:-}" ] || set -- "$@" --secret "id=pip.conf,src=$PIP_CONF"
[ -z "${CA:-}" ] || set -- "$@" --secret "id=ca.crt,src=$CA"
echo "$builder builds $name" >&2
DOCKER_BUILDKIT=1 "$builder" build --tag "$name" "$@" "$context"

if [ -n "${ARCHIVE:-}" ]; then
  rm -f "$ARCHIVE"  # buildah and podman do not write over an archive
  case $builder in
    buildah) buildah push --quiet "$name" "docker-archive:$ARCHIVE:$name" ;;
    *) "$builder" save --output "$ARCHIVE" "$name" ;;
  esac
fi

file=${ARCHIVE:-FILE}
cat <<TEXT

Built $image. Its way to the nodes:
  kind        kind load image-archive $file
  minikube    minikube image load $file
  k3s         sudo k3s ctr images import $file    (on every node)
  a registry  make image IMAGE=REGISTRY/NAME:TAG, then $builder push REGISTRY/NAME:TAG
TEXT
[ -n "${ARCHIVE:-}" ] || echo "FILE is written by make image ARCHIVE=FILE"
