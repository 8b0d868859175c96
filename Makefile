# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
#   make deps        install the Debian packages that all this needs (root)
#   make             user space, into build/
#   make modules     uboe.ko for every kernel, into build/kmod-NAME/
#   make check       tiers T0 to T2 of the tests; see docs/testing.md
#   make check-full  the same with long steps and whole ranges
#   make demo        the tour
#   make bench       uboe and its peers, measured
#   make install     user space with manual pages and completions, to PREFIX below DESTDIR

BUILD   ?= build
PRESET  ?= default
PREFIX  ?= /usr/local
KERNELS ?=
override MAKEFLAGS += --no-print-directory

.PHONY: all deps build modules check check-full demo bench install clean
all: build

deps:
	@tools/setup/deps

build: deps
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX) --log-level=NOTICE
	@cmake --build $(BUILD) -- --quiet

modules: deps
	@UBOE_BUILD=$(abspath $(BUILD)) tools/build/module $(KERNELS)

check: build
	@UBOE_BUILD=$(abspath $(BUILD)) tests/run

check-full: build
	@UBOE_BUILD=$(abspath $(BUILD)) tests/run --full

demo: build
	@UBOE_BUILD=$(abspath $(BUILD)) tools/demo/run

bench: build
	@UBOE_BUILD=$(abspath $(BUILD)) tests/bench/run

install: build
	@cmake --install $(BUILD)

clean:
	@rm -rf $(BUILD)
