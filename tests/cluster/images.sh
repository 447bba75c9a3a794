# shellcheck shell=bash
# Images without a registry: from Debian packages, and with buildah on top of them.

image() { # NAME PACKAGE...: builds localhost/NAME:debian; prints its path
  local name=$1 tar
  shift
  tar=$IMAGES/$name-$(digest "$HERE/images.sh" "$HERE/images/debian/Dockerfile" - <<<"$*").tar
  if [ ! -f "$tar" ]; then
    note "unpacking $* and what they depend on"
    make_workdir
    apt-get update -qq >&2
    # Debian's own sources only, without those of vendors on this machine.
    # shellcheck disable=SC2016 # these are apt's variables
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
      'Origin: Debian' 'Created-By: Packages' >"$WORK/sources.list"
    # Without manuals, character set converters and PostgreSQL's JIT compiler, which is 180 MB.
    # shellcheck disable=SC1091,SC2016
    mmdebstrap --quiet --variant=extract --skip=output/dev \
      --include="base-files base-passwd busybox-static ca-certificates libc-bin netbase $*" \
      --extract-hook='cd "$1/usr" && rm -rf share/doc share/info share/locale share/man share/perl \
        lib/*/gconv lib/*/libLLVM* lib/*/libz3* lib/*/*perl* lib/postgresql/*/lib/*llvm* \
        lib/postgresql/*/lib/bitcode' \
      "$(. /etc/os-release; echo "$VERSION_CODENAME")" "$WORK/root.tar" "$WORK/sources.list" >&2
    bud "localhost/$name:debian" "$WORK" "$tar" --file "$HERE/images/debian/Dockerfile"
  fi
  echo "$tar"
}

python() { # builds localhost/python:debian, a base for simulator/Dockerfile; prints its path
  image python python3-venv python-is-python3 libstdc++6
}

bud() { # TAG DIR TAR [BUILDAH-OPTION...]: builds DIR/Dockerfile and writes the image to TAR
  local tag=$1 dir=$2 tar=${3:?bud needs a file for the image}
  shift 3
  make_workdir
  pip_conf
  note "building $tag"
  mkdir -p "$(dirname "$tar")"
  buildah_ build --quiet --tag "$tag" --secret id=pip.conf,src="$WORK/pip.conf" \
    --secret id=ca.crt,src="$CA" "$@" "$dir" >/dev/null
  rm -f "$tar.new"
  buildah_ push --quiet "$tag" "docker-archive:$tar.new:$tag"
  mv "$tar.new" "$tar"
}

buildah_() { # with its own storage, whose mounts end with the command
  # buildah starts itself for each RUN, without LD_LIBRARY_PATH.
  [ ! -d "$UNPACKED" ] ||
    ldconfig -X -C "$WORK/ld.so.cache" "$UNPACKED/$LIBRARIES" "$UNPACKED/${LIBRARIES#usr/}" 2>/dev/null
  # shellcheck disable=SC2016 # for the inner shell
  HOME=$POLICIES STORAGE_DRIVER=overlay BUILDAH_ISOLATION=chroot unshare --mount sh -c \
    '[ ! -f "$0" ] || mount --bind "$0" /etc/ld.so.cache; exec buildah "$@"' "$WORK/ld.so.cache" \
    --root "$WORK/storage" --runroot "$WORK/run" "$@"
}

# Writes this machine's pip settings for the secrets of simulator/Dockerfile, so that builds use the
# same package index; the image keeps none of them. The certificates have another path there.
pip_conf() {
  local settings key value
  settings=$(python3 -m pip config list 2>/dev/null |
    sed -nE "s/^(:env:|global|install)\.([a-z-]+)='(.*)'$/\2 \3/p" | sort -s -u -k1,1) || true
  CA=/etc/ssl/certs/ca-certificates.crt
  (
    umask 077
    echo '[global]' >"$WORK/pip.conf"
  )
  while read -r key value; do
    case $key in
      cert) CA=$value && echo "cert = /etc/ssl/certs/ca-certificates.crt" ;;
      index-url | extra-index-url | trusted-host | proxy | default-timeout | retries)
        echo "$key = ${value//\\n/ }" ;;
    esac
  done <<<"$settings" >>"$WORK/pip.conf"
}

make_workdir() {
  [ -n "${WORK:-}" ] && return
  need_root
  WORK=$(mktemp -d /var/tmp/bench-image.XXXXXX)
  trap 'rm -rf "$WORK"' EXIT
}
