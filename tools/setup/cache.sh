# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Sourced: where things that are expensive to make are kept between runs.

# Prints $UBOE_CACHE, /var/cache/uboe for root or ~/.cache/uboe, and makes it.
uboe_cache() {
	local dir=${UBOE_CACHE:-}

	if [[ -z $dir ]]; then
		if [[ $(id -u) == 0 ]]; then
			dir=/var/cache/uboe
		else
			dir=${XDG_CACHE_HOME:-$HOME/.cache}/uboe
		fi
	fi
	mkdir -p "$dir"
	(cd "$dir" && pwd -P)
}
