# shellcheck shell=bash
# Keys, certificates and kubeconfigs of the cluster's components, in $PKI.

certificates() { # INDEX...: of the nodes
  local index names=DNS:localhost,IP:172.30.0.1,IP:127.0.0.1,IP:10.96.0.1,DNS:kubernetes
  names+=,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local
  key ca
  openssl req -x509 -new -key "$PKI/ca.key" -subj /CN=bench-cluster -days 365 -out "$PKI/ca.crt"
  key service-accounts
  openssl pkey -in "$PKI/service-accounts.key" -pubout -out "$PKI/service-accounts.pub"
  certificate apiserver /CN=kube-apiserver "subjectAltName=$names"
  certificate apiserver-to-kubelet /O=system:masters/CN=kube-apiserver-kubelet-client
  certificate admin /O=system:masters/CN=admin
  certificate controller-manager /CN=system:kube-controller-manager
  certificate scheduler /CN=system:kube-scheduler
  certificate kube-proxy /CN=system:kube-proxy
  for index; do certificate "node$index" "/O=system:nodes/CN=system:node:node$index"; done
}

key() { openssl ecparam -genkey -name prime256v1 -noout -out "$PKI/$1.key"; }

certificate() { # NAME SUBJECT [EXTENSION]: key, certificate and kubeconfig
  key "$1"
  openssl req -new -key "$PKI/$1.key" -subj "$2" |
    openssl x509 -req -CA "$PKI/ca.crt" -CAkey "$PKI/ca.key" -CAcreateserial -days 365 \
      -extfile <(printf 'extendedKeyUsage=clientAuth,serverAuth\n%s\n' "${3:-}") \
      -out "$PKI/$1.crt" 2>/dev/null
  cat >"$PKI/$1.kubeconfig" <<EOT
apiVersion: v1
kind: Config
current-context: bench
clusters:
  - name: bench
    cluster: {server: "https://172.30.0.1:6443", certificate-authority: $PKI/ca.crt}
users: [{name: $1, user: {client-certificate: $PKI/$1.crt, client-key: $PKI/$1.key}}]
contexts: [{name: bench, context: {cluster: bench, user: $1}}]
EOT
}
