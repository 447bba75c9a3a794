"""What is kept of pods and events is small, and the diagnosis finds the same in it."""

import json

from iotbench.execution.kubernetes.diagnosis import symptoms, waiting_for
from iotbench.execution.kubernetes.watcher import trim_event, trim_pod

POD = {
    "metadata": {
        "name": "bench-s-worker-0-x",
        "labels": {"app.kubernetes.io/component": "worker",
                   "batch.kubernetes.io/job-completion-index": "0"},
        "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:x": {"f:y": {}}}}] * 4,
        "ownerReferences": [{"kind": "Job", "name": "bench-s-worker"}],
    },
    "spec": {
        "nodeName": "node1",
        "containers": [{
            "name": "worker", "image": "bench", "env": [{"name": "A", "value": "b"}] * 10,
            "resources": {"limits": {"memory": "1Gi"}},
        }],
        "tolerations": [{"key": "k", "operator": "Exists"}] * 5,
        "volumes": [{"name": "v", "configMap": {"name": "c"}}] * 5,
    },
    "status": {
        "phase": "Failed",
        "containerStatuses": [{
            "name": "worker",
            "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
        }],
    },
}  # fmt: skip
EVENT = {
    "metadata": {"name": "e", "managedFields": [{"manager": "kubelet"}]},
    "involvedObject": {"name": "bench-s-worker-0-x", "uid": "1", "fieldPath": "spec"},
    "reason": "FailedMount",
    "message": "no such volume",
    "source": {"component": "kubelet"},
}


def test_the_diagnosis_finds_the_same_in_what_is_kept():
    whole = [*symptoms([POD], [EVENT], workers_are_due=True)]
    kept = [*symptoms([trim_pod(POD)], [trim_event(EVENT)], workers_are_due=True)]

    assert kept == whole
    assert "out of memory (OOMKilled): its limit is 1Gi" in whole[0].cause
    assert waiting_for([trim_pod(POD)], 2) == waiting_for([POD], 2)


def test_most_is_not_kept():
    assert len(json.dumps(trim_pod(POD))) < len(json.dumps(POD)) / 2
    assert trim_event(EVENT) == {
        "involvedObject": {"name": "bench-s-worker-0-x"},
        "reason": "FailedMount",
        "message": "no such volume",
    }
