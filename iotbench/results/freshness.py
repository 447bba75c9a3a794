"""Quantiles of freshness, with rows that were watched for a time and not seen in it.

They use the Kaplan-Meier estimator: a row that was not seen counts as waiting for as long
as it was watched. Leaving it out would make the others look faster, and counting it as seen at the
end, too.
"""

import numpy as np

from simulator.protocol.events import Freshness
from simulator.protocol.sketch import counts_from, quantile_ms


def freshness_ms(found: Freshness | None, share: float) -> float | None:
    """Return the time after which this share of rows is seen; None: it is not known."""
    if found is None:
        return None
    seen, unseen = counts_from(found.delays), counts_from(found.unseen)
    waiting = np.cumsum((seen + unseen)[::-1])[::-1]
    """Rows that were seen, or watched, for as long as each bucket at least."""
    left = np.cumprod(1 - seen / np.maximum(waiting, 1))
    (reached,) = np.nonzero(left <= 1 - share + 1e-12)
    if not len(reached) or not seen.any():
        return None
    only = np.zeros_like(seen)
    only[reached[0]] = 1
    return quantile_ms(only, share)


def least_freshness_ms(found: Freshness, share: float) -> float | None:
    """Return a time that the same quantile is not below, whenever the others will be seen."""
    return quantile_ms(counts_from(found.delays) + counts_from(found.unseen), share)
