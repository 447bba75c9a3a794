# shellcheck shell=bash
# The cluster's parts: Debian packages, and programs compiled from the Go modules in src/.

PACKAGES=(buildah catatonit conntrack containerd containernetworking-plugins inotify-tools iproute2
  iptables mmdebstrap openssl procps runc)
# Packages that the machine lacks are unpacked here; installing them could upgrade its own.
UNPACKED=$CACHE/packages
CNI=/usr/lib/cni
POLICIES=$HOME # buildah reads .config/containers of this folder, or else /etc/containers
if [ -d "$UNPACKED" ]; then
  LIBRARIES=usr/lib/$(uname -m)-linux-gnu
  export PATH=$PATH:$UNPACKED/usr/sbin:$UNPACKED/usr/bin:$UNPACKED/sbin:$UNPACKED/bin
  export LD_LIBRARY_PATH=$UNPACKED/$LIBRARIES:$UNPACKED/${LIBRARIES#usr/}
  [ -x /usr/sbin/iptables ] || export XTABLES_LIBDIR=$UNPACKED/$LIBRARIES/xtables
  [ -x $CNI/ptp ] || CNI=$UNPACKED$CNI
  [ -e /etc/containers/policy.json ] || POLICIES=$UNPACKED
fi

build() {
  packages
  program kube kube . "$(kube_flags)"
  ln -sfn kube "$BIN/kubectl"
  program coredns tools ./coredns
  helm >/dev/null
  program kwok tools sigs.k8s.io/kwok/cmd/kwok
  [ -f "$BIN/pause.tar" ] || {
    make_workdir
    cp "$(command -v catatonit)" "$HERE/images/pause/Dockerfile" "$WORK"
    bud localhost/pause:1 "$WORK" "$BIN/pause.tar"
  }
}

helm() {
  program helm tools helm.sh/helm/v3/cmd/helm \
    "-X helm.sh/helm/v3/internal/version.version=$(version tools helm.sh/helm/v3)"
  echo "$BIN/helm"
}

packages() {
  local name names=() plan archive
  for name in "${PACKAGES[@]}"; do is_here "$name" || names+=("$name"); done
  [ ${#names[@]} != 0 ] || return 0
  command -v apt-get >/dev/null ||
    die "this needs Debian packages; on other systems use k3s, kind or minikube and set KUBECONFIG"
  need_root
  note "unpacking ${names[*]} into $UNPACKED; nothing is installed"
  make_workdir
  mkdir -p "$UNPACKED/installed" "$UNPACKED/usr/sbin" "$UNPACKED/.config" "$WORK/archives"
  { apt-get update -qq && plan=$(apt-get install --simulate --no-install-recommends "${names[@]}"); } \
    </dev/null >&2 || die "apt-get failed: see above"
  mapfile -t plan < <(sed -n 's/^Inst \([^ ]*\) .*/\1/p' <<<"$plan") # with what they depend on
  (cd "$WORK/archives" && apt-get download -qq -o APT::Sandbox::User=root "${plan[@]}") >&2 ||
    die "apt-get failed: see above"
  for archive in "$WORK"/archives/*.deb; do dpkg-deb --extract "$archive" "$UNPACKED"; done
  # What the packages' scripts would make.
  for name in ip{,6}tables{,-save,-restore}; do ln -sf xtables-nft-multi "$UNPACKED/usr/sbin/$name"; done
  ln -sfn ../etc/containers "$UNPACKED/.config/containers"
  touch "${names[@]/#/$UNPACKED/installed/}"
  rm -rf "$WORK"
  exec "$0" build # with the paths of what is unpacked
}

is_here() { # PACKAGE: it is installed on this machine, or unpacked
  # shellcheck disable=SC2016 # dpkg's variable
  [ -e "$UNPACKED/installed/$1" ] || dpkg-query --show --showformat '${db:Status-Status}\n' "$1" \
    2>/dev/null | grep -qx installed
}

program() { # NAME MODULE PACKAGE [LINKER-FLAGS]: compiles $BIN/NAME unless it is there
  [ ! -x "$BIN/$1" ] || return 0
  local go lock
  go=$(go env GOVERSION 2>/dev/null || echo go0)
  [ "$(printf '%s\n' go1.24 "$go" | sort -V | head -n 1)" = go1.24 ] ||
    die "compiling $1 needs Go 1.24 or newer on the PATH (https://go.dev/dl); found: ${go/go0/none}"
  mkdir -p "$BIN"
  exec {lock}>"$BIN/.lock"
  flock "$lock" # checkouts share the cache: one compiles, the others wait
  if [ ! -x "$BIN/$1" ]; then
    note "compiling $1; with empty Go caches this takes minutes"
    (cd "$HERE/src/$2" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -mod=readonly \
      -ldflags "-s -w ${4:-}" -o "$BIN/.$1" "$3") || die "cannot compile $1: see above"
    mv "$BIN/.$1" "$BIN/$1"
  fi
  exec {lock}>&-
}

version() { # MODULE DEPENDENCY: its version in go.mod
  awk -v name="$2" '$1 == name {print $2; exit}' "$HERE/src/$1/go.mod"
}

kube_flags() { # the version, for Kubernetes' components and helm
  local full package=k8s.io/component-base/version major minor
  full=$(version kube k8s.io/kubernetes)
  IFS=. read -r major minor _ <<<"${full#v}"
  echo "-X $package.gitVersion=$full -X $package.gitMajor=$major -X $package.gitMinor=$minor"
}
