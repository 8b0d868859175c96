# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the lanes of the benchmark measured, as rows that compare uboe with a peer."""

import os
import statistics

SUBJECT = "uboe"
PEERS = ("rxe", "libfabric", "ucx", "tcp", "uboe-rm", "xdp-redirect", "bridge", "ip-forward",
         "af-packet")
SMALL = 64      # up to here a rate is given in messages
GATED_LANES = ("uml", "icount")
LANES = ("uml", "icount", "tcg", "native", "native6", "switch")


class Lane:
    """The samples of one guest: the lane, its MTU and facts about the guest."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "lane"), encoding="ascii") as handle:
            name, mtu = handle.read().split()
        self.name = name
        self.mtu = int(mtu)
        self.facts = {}
        self.samples = {}       # (row, size) -> subject -> run -> sample
        self.failures = {}      # (row, size) -> subject -> reason
        self.order = []
        self.figures = []       # (name, value, unit), of uboe alone
        path = os.path.join(folder, "samples")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as handle:
                for line in handle:
                    self._read(line.split())

    def _read(self, words):
        if not words:
            return
        if words[0] in ("sample", "failed"):
            key = (words[1], int(words[2]))
            subject = words[3]
            if key not in self.order:
                self.order.append(key)
        if words[0] == "sample":
            run, count, total, median, p99, packets = (int(w) for w in words[4:10])
            self.samples.setdefault(key, {}).setdefault(subject, {})[run] = {
                "count": count, "ns": total, "median": median, "p99": p99,
                "packets": packets}
        elif words[0] == "failed":
            self.failures.setdefault(key, {})[subject] = " ".join(words[4:])
        elif words[0] == "figure":
            self.figures.append((words[1], float(words[2]), words[3]))
        elif words[0] == "crc":
            self.facts["crc " + words[1]] = int(words[2])
        else:
            self.facts[words[0]] = " ".join(words[1:])

    def unit(self, row, size):
        if self.name == "icount":
            return "instructions"
        if row.endswith("-lat"):
            return "us"
        return "msg/s" if size <= SMALL else "MiB/s"

    def value(self, row, size, sample):
        if row.endswith("-lat"):
            return sample["median"] / (1 if self.name == "icount" else 1000)
        if self.name == "icount":
            return sample["ns"] / sample["count"]
        rate = sample["count"] * 1e9 / sample["ns"]
        return rate if size <= SMALL else rate * size / (1 << 20)

    def compare(self, key, peer):
        """A result for uboe and one peer; None where the peer has no such row."""
        row, size = key
        of = self.samples.get(key, {})
        failures = self.failures.get(key, {})
        if peer not in of and peer not in failures and \
                not (peer == PEERS[0] and SUBJECT in failures):
            return None
        ours = {run: self.value(row, size, s) for run, s in of.get(SUBJECT, {}).items()}
        theirs = {run: self.value(row, size, s) for run, s in of.get(peer, {}).items()}
        more_is_better = self.unit(row, size) in ("msg/s", "MiB/s")
        ratios = [ours[run] / theirs[run] if more_is_better else theirs[run] / ours[run]
                  for run in sorted(set(ours) & set(theirs))]
        failed = {who: failures[who] for who in (SUBJECT, peer) if who in failures}
        result = {
            "lane": self.name,
            "mtu": self.mtu,
            "row": row,
            "size": size,
            "unit": self.unit(row, size),
            "uboe": self._median(ours),
            "peer": peer,
            "peer_value": self._median(theirs),
            "ratio": statistics.median(ratios) if ratios and not failed else None,
            "runs": len(ratios),
            "spread": [min(ratios), max(ratios)] if ratios else None,
            "packets": self._packets(key, SUBJECT),
            "peer_packets": self._packets(key, peer),
            "gate": self.name in GATED_LANES and peer == "rxe",
        }
        if failed:
            result["failed"] = failed
        return result

    @staticmethod
    def _median(values):
        return statistics.median(values.values()) if values else None

    def _packets(self, key, subject):
        runs = self.samples.get(key, {}).get(subject, {}).values()
        per_message = [s["packets"] / s["count"] for s in runs]
        return round(statistics.median(per_message), 3) if per_message else None

    def results(self):
        found = []
        for key in self.order:
            for peer in PEERS:
                result = self.compare(key, peer)
                if result:
                    found.append(result)
        return found + [self.figure(*f) for f in self.figures]

    def figure(self, name, value, unit):
        """A result without a peer."""
        return {"lane": self.name, "mtu": self.mtu, "row": name, "size": 0, "unit": unit,
                "uboe": value, "peer": None, "peer_value": None, "ratio": None, "runs": 1,
                "spread": None, "packets": None, "peer_packets": None, "gate": False}


def load(out):
    """All lanes below a folder, in the order of LANES and by MTU."""
    lanes = [Lane(os.path.join(out, name)) for name in os.listdir(out)
             if os.path.exists(os.path.join(out, name, "lane"))]
    return sorted(lanes, key=lambda lane: (LANES.index(lane.name), lane.mtu))


def behind(results):
    """Gated rows where uboe is slower or failed; a peer that failed cannot win."""
    return [r for r in results if r["gate"] and SUBJECT in r.get("failed", {})] + \
        [r for r in results if r["gate"] and r["ratio"] is not None and r["ratio"] < 1]
