"""The way to the cluster: kubectl's configuration, or the environment of a pod."""

import os
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client, config
from urllib3.util.ssl_ import create_urllib3_context

from iotbench.config.options.cluster import ClusterOptions
from iotbench.machine.scratch import scratch_folder
from simulator.errors import ConfigError


def connect(options: ClusterOptions) -> Any:
    """Return a client of the cluster that kubectl would use; ConfigError if there is none."""
    settings = client.Configuration()
    files = _kubeconfig_files(options)
    try:
        if not files and os.environ.get("KUBERNETES_SERVICE_HOST"):
            config.load_incluster_config(settings)  # type: ignore[no-untyped-call]
            tls = _tls(settings)
        else:
            # The library writes a kubeconfig's certificates and private key to files, and removes
            # them when the process ends, unless it is killed.
            with scratch_folder("kubeconfig") as folder:
                config.load_kube_config(  # type: ignore[no-untyped-call]
                    config_file=os.pathsep.join(map(str, files)) or None,
                    context=options.context or _current_context(files),
                    client_configuration=settings,
                    temp_file_path=str(folder),
                )
                tls = _tls(settings)
                config.kube_config._cleanup_temp_files()  # type: ignore[no-untyped-call]  # noqa: SLF001
    except (config.ConfigException, OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(
            f"no Kubernetes cluster is configured: {' '.join(str(error).split())}; set KUBECONFIG"
            " or --kubeconfig, and --context for one of its clusters; without a cluster,"
            " --runner local"
        ) from error
    settings.retries = False
    settings.ssl_ca_cert = settings.cert_file = settings.key_file = None  # `tls` has them
    made = client.ApiClient(settings)
    made.rest_client.pool_manager.connection_pool_kw["ssl_context"] = tls
    return made


def _tls(settings: Any) -> ssl.SSLContext:
    context = create_urllib3_context()
    if not settings.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif settings.ssl_ca_cert:
        context.load_verify_locations(settings.ssl_ca_cert)
    else:
        context.load_default_certs()
    if settings.cert_file:
        context.load_cert_chain(settings.cert_file, settings.key_file)
    return context


def _kubeconfig_files(options: ClusterOptions) -> list[Path]:
    """Return the kubeconfig files that kubectl would read."""
    if options.kubeconfig:
        return [options.kubeconfig]
    named = [Path(name) for name in os.environ.get("KUBECONFIG", "").split(os.pathsep) if name]
    return named or [path for path in [Path.home() / ".kube" / "config"] if path.exists()]


def _current_context(files: Sequence[Path]) -> str | None:
    """Return the current context, from the first file that has one."""
    for path in files:
        if path.exists():
            content = yaml.safe_load(path.read_text())
            if content is not None and not isinstance(content, dict):
                raise ValueError(f"{path} is not a kubeconfig file")
            if content and content.get("current-context"):
                return str(content["current-context"])
    return None


def kubectl_flags(options: ClusterOptions) -> Sequence[str]:
    """Return the options with which kubectl uses the same cluster."""
    flags = []
    if options.kubeconfig:
        flags.append(f"--kubeconfig={options.kubeconfig}")
    if options.context:
        flags.append(f"--context={options.context}")
    return flags
