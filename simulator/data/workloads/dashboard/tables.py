"""The eleven measurements of workload `dashboard`: all of `devops`, `system` and `status`.

A host is named by its cluster and its place there: cluster 0 has `kapacitor_1` alone, each of the
others `meta_1` to `meta_3` and `data_1` to `data_7`.
"""

from dataclasses import replace

from simulator.data.block import Array, Rows
from simulator.data.schema import Column, Role, Type
from simulator.data.walks import Drifting
from simulator.data.workloads.shared.fleets import MOST_MEMBERS, texts
from simulator.data.workloads.shared.hosts import NUMBERED, HostTags
from simulator.data.workloads.shared.telemetry import Measurement, measurements

SYSTEM, STATUS = "system", "status"
LOADS = ("load1", "load5", "load15")
LOAD_DEVIATION = 10
PROCESSORS = (2, 4, 8, 16, 32, 64)
MOST_LOAD = 2 * max(PROCESSORS)

KAPACITOR = "kapacitor_1"
META = tuple(f"meta_{place}" for place in range(1, 4))
DATA = tuple(f"data_{place}" for place in range(1, 8))
CLUSTER_HOSTS = len(META + DATA)
PATH = "/dev/sda1"

_NAMES = texts([*META, *DATA, KAPACITOR])
_CLUSTER = "cluster_id"

CLUSTERED = HostTags(
    {
        "hostname": len(KAPACITOR),
        **{
            _CLUSTER if tag == "team" else tag: characters
            for tag, characters in NUMBERED.lengths.items()
            if tag not in NUMBERED.names
        },
        _CLUSTER: len(str(MOST_MEMBERS // CLUSTER_HOSTS)),
    },
    names=(_CLUSTER, "hostname"),
)
"""The cluster takes the place of the team."""


def list_clustered_measurements(*, exact: bool) -> tuple[Measurement, ...]:
    """Return the eleven tables in the document's order; `exact`: doubles are on a grid."""
    loads = [Column(name, Type.FLOAT64, Role.FIELD, exact=exact) for name in LOADS]
    return (
        *(
            replace(each, tags={**each.tags, "path": (PATH,)}) if each.name == "disk" else each
            for each in measurements(exact=exact)
        ),
        Measurement(
            SYSTEM,
            (Column("n_cpus", Type.INT64, Role.FIELD), *loads),
            dict.fromkeys(LOADS, Drifting(0)),
        ),
        Measurement(STATUS, (Column("service_up", Type.INT64, Role.FIELD),), {}),
    )


def names_of(hosts: Rows) -> dict[str, Array]:
    """Return the tags that identify these hosts, given by their numbers."""
    clusters, places = -(-hosts // CLUSTER_HOSTS), (hosts - 1) % CLUSTER_HOSTS
    places[hosts == 0] = CLUSTER_HOSTS
    return {
        "hostname": _NAMES.take(places),
        _CLUSTER: texts([str(cluster) for cluster in clusters.tolist()]),
    }


def whole_clusters(first: int, hosts: int) -> range:
    """Return the numbers of the clusters, from 1 on, of which the fleet has all hosts."""
    since = max(-(-(first - 1) // CLUSTER_HOSTS), 0) + 1
    return range(since, (first + hosts - 1) // CLUSTER_HOSTS + 1)
