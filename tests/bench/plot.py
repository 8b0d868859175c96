# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Draws the ratios of a benchmark as one SVG picture: a column for each guest or peer,
a bar for each row, from the line where uboe and the peer are equal."""

import math
from xml.sax.saxutils import escape

LABEL_WIDTH = 110
COLUMN_WIDTH = 190
GAP = 14
ROW_HEIGHT = 18
TOP = 92
BOTTOM = 34
SPAN = 8.0          # the axis goes from 1/SPAN to SPAN
AHEAD, BEHIND, UNGATED, INK = "#2e7d4f", "#b3372f", "#8a94a0", "#1d2733"
UNITS = {1024: "1 KiB", 4096: "4 KiB", 65536: "64 KiB", 1048576: "1 MiB"}


def size_text(size):
    return UNITS.get(size, "%d B" % size)


def number_text(value):
    if value is None:
        return "-"
    if value >= 1e6:
        return "%.2fM" % (value / 1e6)
    if value >= 1e4:
        return "%.1fK" % (value / 1e3)
    if value >= 100:
        return "%.0f" % value
    return "%.1f" % value


class Picture:
    def __init__(self, width, height):
        self.parts = [
            '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
            'viewBox="0 0 %d %d" font-family="Helvetica, Arial, sans-serif" '
            'font-size="11">' % (width, height, width, height),
            '<rect width="100%" height="100%" fill="white"/>']

    def text(self, x, y, text, anchor="start", size=11, fill=INK, weight="normal"):
        self.parts.append(
            '<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d" fill="%s" '
            'font-weight="%s">%s</text>' % (x, y, anchor, size, fill, weight, escape(text)))

    def bar(self, x, y, width, height, fill, title=""):
        self.parts.append(
            '<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s">'
            '<title>%s</title></rect>' % (x, y, width, height, fill, escape(title)))

    def line(self, x0, y0, x1, y1, stroke, dash=""):
        self.parts.append(
            '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"%s/>'
            % (x0, y0, x1, y1, stroke, ' stroke-dasharray="%s"' % dash if dash else ""))

    def done(self):
        return "\n".join(self.parts + ["</svg>", ""])


def position(ratio):
    """0 at 1/SPAN, 1 at SPAN, logarithmic."""
    ratio = min(max(ratio, 1 / SPAN), SPAN)
    return 0.5 + math.log(ratio) / math.log(SPAN) / 2


def rows_of(results):
    rows = []
    for result in results:
        key = (result["row"], result["size"])
        if key not in rows:
            rows.append(key)
    order = ["write", "read", "send", "faa", "write-lat", "read-lat", "faa-lat", "send-lat"]
    return sorted(rows, key=lambda key: (
        order.index(key[0]) if key[0] in order else len(order), key[0], key[1]))


def column_of(result):
    return (result["lane"], result["mtu"], result["peer"])


def draw(results, title):
    """SVG text of the comparison with Soft-RoCE, natively with all peers."""
    results = [r for r in results
               if r["peer"] and (r["peer"] == "rxe" or r["lane"].startswith("native"))]
    rows = rows_of(results)
    columns = []
    for result in results:
        if column_of(result) not in columns:
            columns.append(column_of(result))
    columns.sort(key=lambda column: column[0].startswith("native"))  # else as they come
    width = LABEL_WIDTH + len(columns) * (COLUMN_WIDTH + GAP) + GAP
    height = TOP + len(rows) * ROW_HEIGHT + BOTTOM
    picture = Picture(width, height)
    picture.text(GAP, 24, "uboe and its peers side by side", size=16, weight="bold")
    picture.text(GAP, 42, title, fill=UNGATED)
    picture.text(GAP, 58, "Bars: how many times as fast, or as cheap, uboe is. Right of "
                 "the line: uboe is ahead. Grey: for information.", fill=UNGATED)
    for number, key in enumerate(rows):
        y = TOP + number * ROW_HEIGHT
        if number and rows[number - 1][0] != key[0]:
            picture.line(GAP, y, width - GAP, y, "#d5dae0")
        picture.text(GAP, y + 13, "%s %s" % (key[0], size_text(key[1])))
    for number, column in enumerate(columns):
        left = LABEL_WIDTH + GAP + number * (COLUMN_WIDTH + GAP)
        draw_column(picture, left, column, rows,
                    {(r["row"], r["size"]): r for r in results
                     if column_of(r) == column})
    return picture.done()


def draw_column(picture, left, column, rows, results):
    bottom = TOP + len(rows) * ROW_HEIGHT
    axis = COLUMN_WIDTH - 40
    picture.text(left, TOP - 10, "%s, MTU %d, %s" % column, weight="bold")
    for tick in (0.25, 0.5, 1, 2, 4):
        x = left + axis * position(tick)
        picture.line(x, TOP, x, bottom, INK if tick == 1 else "#e3e7eb",
                     "" if tick == 1 else "2,2")
        picture.text(x, bottom + 14, "%g" % tick, "middle", 9, UNGATED)
    for number, key in enumerate(rows):
        result = results.get(key)
        if not result:
            continue
        y = TOP + number * ROW_HEIGHT
        ratio = result["ratio"]
        if ratio is None:
            picture.text(left + axis / 2 + 4, y + 13, "failed: " +
                         " ".join(result.get("failed", {"?": ""})), fill=BEHIND)
            continue
        colour = (AHEAD if ratio >= 1 else BEHIND) if result["gate"] else UNGATED
        start, end = sorted((position(1), position(ratio)))
        picture.bar(left + axis * start, y + 3, max(axis * (end - start), 1.0),
                    ROW_HEIGHT - 6, colour, "uboe %s, %s %s %s" % (
                        number_text(result["uboe"]), column[2],
                        number_text(result["peer_value"]), result["unit"]))
        picture.text(left + axis + 4, y + 13, "%.2f" % ratio, fill=colour, weight="bold")
