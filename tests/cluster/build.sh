# shellcheck shell=bash
# The cluster's parts: Debian packages, and programs compiled from the Go modules in src/.

PACKAGES=(buildah catatonit conntrack containerd containernetworking-plugins inotify-tools iproute2
  iptables mmdebstrap openssl procps runc)

build() {
  packages
  program kube kube . "$(kube_flags)"
  ln -sfn kube "$BIN/kubectl"
  program coredns tools ./coredns
  helm >/dev/null
  program kwok tools sigs.k8s.io/kwok/cmd/kwok
  [ -f "$BIN/pause.tar" ] || {
    make_workdir
    cp /usr/bin/catatonit "$HERE/images/pause/Dockerfile" "$WORK"
    bud localhost/pause:1 "$WORK" "$BIN/pause.tar"
  }
}

helm() {
  program helm tools helm.sh/helm/v3/cmd/helm \
    "-X helm.sh/helm/v3/internal/version.version=$(version tools helm.sh/helm/v3)"
  echo "$BIN/helm"
}

packages() {
  # shellcheck disable=SC2016 # dpkg's variable
  [ "$(dpkg-query --show --showformat '${db:Status-Status}\n' "${PACKAGES[@]}" 2>/dev/null |
    grep -cx installed)" != ${#PACKAGES[@]} ] || return 0
  command -v apt-get >/dev/null ||
    die "this needs Debian packages; on other systems use k3s, kind or minikube and set KUBECONFIG"
  need_root
  note "installing ${PACKAGES[*]}"
  { apt-get update -qq && apt-get install -qq --yes --no-install-recommends "${PACKAGES[@]}"; } \
    </dev/null >&2 || die "apt-get failed: see above"
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
