#!/usr/bin/env bash
# The first process of a node, started by cluster.sh in its own namespaces. If it is killed, the
# kernel kills the whole node with its pods, as a power failure would.
#
#   node.sh INDEX STATE BIN CONF
set -euo pipefail
index=$1 state=$2 bin=$3 conf=$4
name=node$index
# node3 is for the database, the others for clients.
label=workload=client
[ "$index" != 3 ] || label=workload=db

# cgroups: all processes of this node are below /bench-cluster/NAME in every hierarchy of version 1.
for hierarchy in /sys/fs/cgroup/*; do
  [ -f "$hierarchy/cgroup.clone_children" ] || continue
  path=$hierarchy
  for part in bench-cluster "$name" system; do
    path=$path/$part
    mkdir -p "$path"
    if [ -f "$path/cpuset.cpus" ]; then # empty in a new group, which cannot have processes then
      cat "$hierarchy/cpuset.cpus" >"$path/cpuset.cpus"
      cat "$hierarchy/cpuset.mems" >"$path/cpuset.mems"
    fi
  done
  echo 1 >"$path/cgroup.procs"
done

# Mounts: each node has its own usual paths, and shares the rest of the machine's file system.
hostname "$name"
mount -t tmpfs tmpfs /run
mkdir -p /run/netns /run/lock /run/cni "$state/$name"/{lib,log}
mount --bind "$state/$name/lib" /var/lib
mount --bind "$state/$name/log" /var/log
mkdir -p /var/lib/kubelet
mount --make-rshared /

# Network: cluster.sh moves this end of the link in and names it eth0.
until [ -e /proc/sys/net/ipv4/conf/eth0 ]; do sleep 0.02; done
ip link set lo up
ip address add "172.30.0.$((10 + index))/24" dev eth0
ip link set eth0 up
ip route add default via 172.30.0.1
for other in {1..9}; do
  [ "$other" = "$index" ] || ip route add "10.244.$other.0/24" via "172.30.0.$((10 + other))"
done
sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0
cat >/run/cni/10-pods.conflist <<EOT
{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "ptp", "ipMasq": false, "mtu": 1500,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.244.$index.0/24"}]],
            "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
EOT

containerd --config "$state/containerd.toml" &>/var/log/containerd.log &
until [ -S /run/containerd/containerd.sock ]; do sleep 0.05; done
"$bin/kube" kubelet --config="$conf/kubelet.yaml" --kubeconfig="$state/pki/$name.kubeconfig" \
  --client-ca-file="$state/pki/ca.crt" --cgroup-root="/bench-cluster/$name" \
  --hostname-override="$name" --node-ip="172.30.0.$((10 + index))" --node-labels="$label" \
  &>/var/log/kubelet.log &
# Zeros: do not change the machine's connection tracking.
"$bin/kube" kube-proxy --kubeconfig="$state/pki/kube-proxy.kubeconfig" --proxy-mode=iptables \
  --cluster-cidr=10.244.0.0/16 --hostname-override="$name" --iptables-min-sync-period=0s \
  --conntrack-max-per-core=0 --conntrack-min=0 --conntrack-tcp-timeout-established=0 \
  --conntrack-tcp-timeout-close-wait=0 &>/var/log/kube-proxy.log &
while true; do # bash reaps orphans
  wait || true
  sleep 1
done
