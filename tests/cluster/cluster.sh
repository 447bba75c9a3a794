#!/usr/bin/env bash
# A real Kubernetes on one bare Debian machine, without an image registry; see README.md.
#
#   cluster.sh build                   build everything that the cache lacks
#   cluster.sh helm                    build only helm, without root; prints its path
#   cluster.sh up [N=3]                start N nodes, unless they are up and ready
#   cluster.sh down                    stop everything that `up` started and remove its files
#   cluster.sh env                     print settings for a shell: eval "$(tests/cluster/cluster.sh env)"
#   cluster.sh load TAR...             load images into every node
#   cluster.sh node NAME COMMAND...    run a command inside a node
#   cluster.sh crash NAME              kill a node with everything in it, as a power failure would
#   cluster.sh boot NAME               start a crashed node
#   cluster.sh kwok [N=5]              add N fake nodes
#   cluster.sh image NAME PACKAGE...   build the image localhost/NAME:debian; prints its path
#   cluster.sh bud TAG DIR TAR [...]   build DIR's Dockerfile into TAR; buildah gets the options
#   cluster.sh python                  build the image localhost/python:debian; prints its path
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/iot-database-benchmark/cluster
IMAGES=$CACHE/images
# One cluster per machine, outside of the checkout; a short path, which sockets need.
STATE=/var/tmp/bench-cluster
PKI=$STATE/pki
VOLUMES=/tmp/hostpath_pv # fixed in the controller manager's provisioner
BRIDGE=bench0
# Machine-wide settings that the kubelet changes; the last is needed for several nodes.
SYSCTLS=(vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops
  kernel.keys.root_maxkeys kernel.keys.root_maxbytes fs.inotify.max_user_instances)
export KUBECONFIG=$STATE/pki/admin.kubeconfig KUBECACHEDIR=$STATE/kubectl

die() {
  echo "cluster.sh: $*" >&2
  exit 1
}
note() { echo "$((SECONDS / 60)):$(printf %02d $((SECONDS % 60)))  $*" >&2; }
digest() { cat "$@" | sha256sum | cut -c-12; }
need_root() { [ "$(id -u)" = 0 ] || die "this needs root: try sudo"; }
need_up() { [ -d "$STATE" ] || die "no cluster exists: run 'cluster.sh up'"; }
usage() {
  sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
eventually() { # SECONDS COMMAND...: wait until it succeeds
  local end=$((SECONDS + $1))
  shift
  until "$@" &>/dev/null; do
    [ $SECONDS -lt $end ] || die "timed out: $* (logs: $STATE/log, $STATE/node*/log)"
    sleep 0.1
  done
}
all() { # wait for background jobs; all must succeed
  local job
  for job; do wait "$job" || return; done
}

# The cache key covers everything that affects the programs, except the flags in build.sh.
BIN=$CACHE/$(uname -m)-$(find "$HERE/src" -type f -print0 | sort -z | xargs -0 cat | digest -)
# shellcheck source-path=SCRIPTDIR source=build.sh
. "$HERE/build.sh"
# shellcheck source-path=SCRIPTDIR source=certificates.sh
. "$HERE/certificates.sh"
# shellcheck source-path=SCRIPTDIR source=images.sh
. "$HERE/images.sh"

# Processes are identified by id and start time, since an id alone may be reused.

start() { # NAME COMMAND...
  local name=$1
  shift
  (
    # The process writes this itself before it becomes the command, so no interrupt can lose it.
    pid=$BASHPID
    echo "$pid $(started "$pid")" >"$STATE/pids/$name"
    exec setsid "$@"
  ) &>"$STATE/log/$name.log" </dev/null &
  eventually 5 test -s "$STATE/pids/$name"
}

started() { # PID: its start time; nothing if it has ended or is a zombie
  local stat
  stat=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) || return 0
  [ "${stat%% *}" = Z ] || cut -d' ' -f20 <<<"$stat"
}

pid() { # NAME: its process id, if it runs
  local pid time
  read -r pid time 2>/dev/null <"$STATE/pids/$1" && [ -n "$time" ] &&
    [ "$(started "$pid")" = "$time" ] && echo "$pid"
}

gone() { ! pid "$1" >/dev/null; }
gone_pid() { [ -z "$(started "$1")" ]; }

stop() { # NAME [SECONDS]: terminates it, and kills it after that time
  local pid init end=$((SECONDS + ${2:-0}))
  if pid=$(pid "$1"); then
    init=$(init "$1") || true
    [ $end = $SECONDS ] || kill "$pid" || true
    until gone "$1" || [ $SECONDS -ge $end ]; do sleep 0.05; done
    kill -KILL -- "-$pid" 2>/dev/null || true # its group, created by setsid
    eventually 20 gone "$1"
    # The first process of a node ends last.
    [ -z "$init" ] || eventually 20 gone_pid "$init"
  fi
  rm -f "$STATE/pids/$1"
}

# Nodes

nodes() { find "$STATE/pids" -name 'node*' -printf '%f\n' | sort; } # those that run

init() { # NODE: the process id of node.sh on the machine
  local pid children
  pid=$(pid "$1") && children=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null) &&
    [ -n "$children" ] && echo "${children%% *}"
}

in_node() { # NODE COMMAND...
  local init
  init=$(init "$1") || die "$1 is not running; running: $(nodes | xargs)"
  shift
  nsenter --target "$init" --net --mount --pid --uts --ipc -- "$@"
}

has_own_network() { # NODE
  local init
  init=$(init "$1") && [ "$(readlink "/proc/$init/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

node_start() { # INDEX
  local name=node$1
  start "$name" unshare --net --mount --pid --uts --ipc --fork --kill-child=SIGKILL --mount-proc \
    --propagation private "$HERE/node.sh" "$1" "$STATE" "$BIN" "$HERE/conf"
  eventually 10 has_own_network "$name"
  ip link add "$BRIDGE-$name" type veth peer name eth0 netns "$(init "$name")"
  ip link set "$BRIDGE-$name" master "$BRIDGE" up
  ip route replace "10.244.$1.0/24" via "172.30.0.$((10 + $1))" dev "$BRIDGE"
}

crash() { # NODE
  pid "$1" >/dev/null || die "$1 is not running; running: $(nodes | xargs)"
  stop "$1"
}

boot() { # NODE
  [ -f "$PKI/$1.kubeconfig" ] || die "there is no $1"
  gone "$1" || die "$1 runs"
  eventually 20 test ! -e "/sys/class/net/$BRIDGE-$1" # the kernel removes it with a delay
  node_start "${1#node}"
}

load() { # TAR...
  local node jobs=()
  for node in $(nodes); do
    load_node "$node" "$@" &
    jobs+=($!)
  done
  all "${jobs[@]}" || die "some nodes did not load the images: see above"
}

load_node() { # NODE TAR...
  local node=$1 tar
  shift
  eventually 20 in_node "$node" ctr version
  for tar; do in_node "$node" ctr -n k8s.io images import --digests=false - <"$tar" >/dev/null; done
}

# Up and down

up() { # [N]
  local count=${1:-3} index indices setting
  local hint="kubectl and helm for your shell: eval \"\$($0 env)\""
  [[ $count =~ ^[1-9]$ ]] || die "up needs a number of nodes from 1 to 9, got '$count'"
  need_root
  [ -f /sys/fs/cgroup/memory/memory.limit_in_bytes ] || die "this cluster needs control" \
    "groups of version 1, which this machine lacks: use k3s, kind or minikube"
  [ -f "$BIN/pause.tar" ] || die "the cache lacks the programs: run 'cluster.sh build'"
  if [ -d "$STATE" ]; then
    well "$count" || die "a cluster exists, but not with $count ready nodes:" \
      "stop it with 'cluster.sh down'"
    note "up already; $hint"
    return
  fi
  [ ! -e "$VOLUMES" ] || die "$VOLUMES exists: remove it unless another cluster uses it"
  mkdir --mode=700 "$STATE" || die "another 'up' is running"
  trap 'echo "cluster.sh: up failed; clean up with: cluster.sh down" >&2' EXIT
  mkdir "$STATE"/{pids,log,pki,etcd,volumes}
  for setting in "${SYSCTLS[@]}"; do
    echo "$setting=$(sysctl -n "$setting")"
  done >"$STATE/sysctl"
  sysctl -qw fs.inotify.max_user_instances=1024
  mapfile -t indices < <(seq "$count")
  certificates "${indices[@]}"
  # Otherwise the bridge has the address of one of its ports; when that node crashes, it gets another,
  # and the remaining nodes reach nothing for half a minute.
  ip link add "$BRIDGE" address 02:00:ac:1e:00:01 type bridge
  ip address add 172.30.0.1/24 dev "$BRIDGE"
  ip link set "$BRIDGE" up

  control_plane
  sed "s,@CNI@,$CNI," "$HERE/conf/containerd.toml" >"$STATE/containerd.toml"
  for index in "${indices[@]}"; do node_start "$index"; done
  load "$BIN/pause.tar"
  for index in "${indices[@]}"; do eventually 60 kubectl get node "node$index"; done
  kubectl wait --for=condition=Ready node --all --timeout=120s >/dev/null
  eventually 30 kubectl get serviceaccount default
  kubectl apply -f "$HERE/conf/storage.yaml" >/dev/null
  touch "$STATE/complete"
  trap - EXIT
  note "up: $count node(s); $hint"
}

well() { # N: `up` was not interrupted, and that many nodes run and are ready
  [ -f "$STATE/complete" ] && [ "$(nodes | wc -l)" = "$1" ] &&
    kubectl wait --for=condition=Ready node --all --timeout=60s --request-timeout=10s &>/dev/null
}

control_plane() {
  local etcd=http://127.0.0.1:12379 peer=http://127.0.0.1:12380
  start etcd "$BIN/kube" etcd --name=bench --data-dir="$STATE/etcd" --log-level=warn \
    --listen-client-urls=$etcd --advertise-client-urls=$etcd \
    --listen-peer-urls=$peer --initial-advertise-peer-urls=$peer --initial-cluster=bench=$peer \
    --unsafe-no-fsync # its data is temporary, and databases need the disk
  start kube-apiserver "$BIN/kube" kube-apiserver --etcd-servers=$etcd \
    --bind-address=172.30.0.1 --advertise-address=172.30.0.1 \
    --service-cluster-ip-range=10.96.0.0/16 --enable-aggregator-routing \
    --tls-cert-file="$PKI/apiserver.crt" --tls-private-key-file="$PKI/apiserver.key" \
    --client-ca-file="$PKI/ca.crt" --authorization-mode=Node,RBAC --allow-privileged \
    --enable-admission-plugins=NodeRestriction \
    --kubelet-client-certificate="$PKI/apiserver-to-kubelet.crt" \
    --kubelet-client-key="$PKI/apiserver-to-kubelet.key" \
    --kubelet-preferred-address-types=InternalIP \
    --service-account-issuer=https://kubernetes.default.svc \
    --service-account-key-file="$PKI/service-accounts.pub" \
    --service-account-signing-key-file="$PKI/service-accounts.key"
  eventually 60 kubectl get --raw /readyz

  # Nodes share /tmp, so all of them see a volume.
  ln -s "$STATE/volumes" "$VOLUMES"
  # Open to every user, as on k3s, kind and minikube.
  # shellcheck disable=SC2016
  start volumes bash -c 'inotifywait --monitor --quiet --event create --format %w%f "$1" |
    xargs -d "\n" -n 1 chmod 777' - "$STATE/volumes"
  # At its default rate a Job of a thousand pods would take minutes.
  start kube-controller-manager "$BIN/kube" kube-controller-manager --bind-address=127.0.0.1 \
    --kubeconfig="$PKI/controller-manager.kubeconfig" --leader-elect=false \
    --use-service-account-credentials --root-ca-file="$PKI/ca.crt" \
    --service-account-private-key-file="$PKI/service-accounts.key" --enable-hostpath-provisioner \
    --flex-volume-plugin-dir="$STATE/flex" --kube-api-qps=300 --kube-api-burst=600
  start kube-scheduler "$BIN/kube" kube-scheduler --bind-address=127.0.0.1 \
    --kubeconfig="$PKI/scheduler.kubeconfig" --leader-elect=false \
    --kube-api-qps=300 --kube-api-burst=600
  sed "s,@PKI@,$PKI," "$HERE/conf/Corefile" >"$STATE/Corefile"
  start coredns "$BIN/coredns" -conf "$STATE/Corefile"
}

down() {
  [ -d "$STATE" ] || {
    note "no cluster exists"
    return
  }
  need_root
  local name jobs=() setting group
  mkdir -p "$STATE/pids" # `up` may have failed early
  touch "$STATE/sysctl"
  for name in kwok coredns kube-scheduler kube-controller-manager; do
    stop $name 2 &
    jobs+=($!)
  done
  for name in $(nodes); do
    stop "$name" & # a node has no orderly shutdown
    jobs+=($!)
  done
  all "${jobs[@]}"
  stop kube-apiserver 3
  stop etcd 3
  stop volumes
  ! ip link show "$BRIDGE" &>/dev/null || ip link delete "$BRIDGE"
  eventually 20 no_links # the kernel may remove a node's link only some time after the node
  for group in /sys/fs/cgroup/*/bench-cluster; do
    [ ! -d "$group" ] || eventually 10 remove_cgroup "$group"
  done
  while read -r setting; do sysctl -qw "$setting"; done <"$STATE/sysctl"
  [ ! -L "$VOLUMES" ] || rm "$VOLUMES"
  rm -rf "$STATE"
  note "down"
}

no_links() {
  local link
  for link in $(compgen -G "/sys/class/net/$BRIDGE-*"); do ip link delete "${link##*/}"; done
  ! compgen -G "/sys/class/net/$BRIDGE-*"
}
remove_cgroup() { find "$1" -depth -type d -exec rmdir {} +; }

kwok() { # [N]
  local index
  ! gone kwok || start kwok "$BIN/kwok" --kubeconfig="$KUBECONFIG" --manage-all-nodes=false \
    --manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake --cidr=10.245.0.0/16 \
    --node-ip=172.30.0.250 --config="$HERE/conf/kwok-stages.yaml" --server-address=127.0.0.1:10247
  for index in $(seq "${1:-5}"); do
    sed "s/@NAME@/fake$index/g" "$HERE/conf/kwok-node.yaml"
  done | kubectl apply -f - >/dev/null
  kubectl wait --for=condition=Ready node -l type=kwok --timeout=60s >/dev/null
}

kubectl() { "$BIN/kubectl" "$@"; }

command=${1:-}
shift || true
case $command in
  build | helm | python | up | down) "$command" "$@" ;;
  env)
    echo "export PATH=$(printf %q "$BIN"):\$PATH KUBECONFIG=$KUBECONFIG KUBECACHEDIR=$KUBECACHEDIR"
    ;;
  image | bud)
    [ $# -ge 2 ] || usage
    "$command" "$@"
    ;;
  load | crash | boot | kwok | node)
    [ $# -ge 1 ] || [ "$command" = kwok ] || usage
    need_root
    need_up
    [ "$command" != node ] || command=in_node
    "$command" "$@"
    ;;
  *) usage ;;
esac
