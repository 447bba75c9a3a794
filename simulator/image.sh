#!/bin/sh
# Builds the image of command line, collector and workers with docker, podman or buildah. Variables, all optional:
#   IMAGE      its name; include the registry to push it
#   BASE       the base image (see the Dockerfile)
#   HELM       an image with /usr/bin/helm (see the Dockerfile)
#   ARCHIVE    also write the image to this file
#   BUILDER    docker, podman or buildah; default: the first that works
#   PIP_CONF   a pip.conf, for a package mirror or proxy
#   CA         a certificate bundle for it; the image keeps neither file
#   SOURCE     address of the source, for the label
set -eu
folder=$(dirname "$0")

version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$folder/__init__.py")
revision=$(git -C "$folder" describe --always --abbrev=40 --dirty 2>/dev/null || echo unknown)
image=${IMAGE:-iot-database-benchmark:$version}
# A name without a registry means Docker Hub to Kubernetes, but localhost to podman and buildah.
case $image in */*) name=$image ;; *) name=docker.io/library/$image ;; esac

# docker may be installed while its daemon is not running.
builder=
for tool in ${BUILDER:-docker podman buildah}; do
  if "$tool" info >/dev/null 2>&1; then builder=$tool && break; fi
done
if [ -z "$builder" ]; then
  echo "cannot build the image: ${BUILDER:-docker, podman or buildah} does not work here;" \
    "start docker's daemon, or install buildah (Debian: apt-get install buildah)" >&2
  exit 1
fi

set -- --build-arg "VERSION=$version" --build-arg "REVISION=$revision"
[ -z "${SOURCE:-}" ] || set -- "$@" --build-arg "SOURCE=$SOURCE"
[ -z "${BASE:-}" ] || set -- "$@" --build-arg "BASE=$BASE"
[ -z "${HELM:-}" ] || set -- "$@" --build-arg "HELM=$HELM"
[ -z "${PIP_CONF:-}" ] || set -- "$@" --secret "id=pip.conf,src=$PIP_CONF"
[ -z "${CA:-}" ] || set -- "$@" --secret "id=ca.crt,src=$CA"
echo "building $name with $builder" >&2
DOCKER_BUILDKIT=1 "$builder" build --tag "$name" "$@" \
  --file "$folder/Dockerfile" "$folder/.."

if [ -n "${ARCHIVE:-}" ]; then
  rm -f "$ARCHIVE"  # buildah and podman do not overwrite an archive
  case $builder in
    buildah) buildah push --quiet "$name" "docker-archive:$ARCHIVE:$name" ;;
    *) "$builder" save --output "$ARCHIVE" "$name" ;;
  esac
fi

file=${ARCHIVE:-FILE}
cat <<TEXT

Built $image. To make it available to the nodes:
  kind        kind load image-archive $file
  minikube    minikube image load $file
  k3s         sudo k3s ctr images import $file    (on every node)
  a registry  make image IMAGE=REGISTRY/NAME:TAG, then $builder push REGISTRY/NAME:TAG
TEXT
[ -n "${ARCHIVE:-}" ] || echo "make image ARCHIVE=FILE writes FILE"
