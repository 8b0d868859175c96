# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Sourced by steps written in bash: results in KTAP.

ktap_count=0
ktap_failures=0

# ktap_ok NAME
ktap_ok() {
	ktap_count=$((ktap_count + 1))
	echo "ok $ktap_count $1"
}

# ktap_not_ok NAME
ktap_not_ok() {
	ktap_count=$((ktap_count + 1))
	ktap_failures=$((ktap_failures + 1))
	echo "not ok $ktap_count $1"
}

# ktap_skip NAME REASON
ktap_skip() {
	ktap_count=$((ktap_count + 1))
	echo "ok $ktap_count $1 # SKIP $2"
}

# ktap_run NAME COMMAND...: the result is the command's exit status.
ktap_run() {
	local name=$1 status=0

	shift
	"$@" || status=$?
	if ((status == 0)); then
		ktap_ok "$name"
	else
		echo "# $name: exit status $status"
		ktap_not_ok "$name"
	fi
}

# ktap_expect NAME STATUS COMMAND...: the command has to end with STATUS.
ktap_expect() {
	local name=$1 want=$2 status=0

	shift 2
	"$@" || status=$?
	if ((status == want)); then
		ktap_ok "$name"
	else
		echo "# $name: exit status $status, expected $want"
		ktap_not_ok "$name"
	fi
}

# ktap_quote COMMAND...: runs it with its output as comments, so that results of its own
# do not count. Callers set pipefail: the status is the command's.
ktap_quote() { "$@" | sed 's/^/# /'; }

# ktap_private_net COMMAND...: runs it in a network namespace of its own, with lo up.
ktap_private_net() {
	local private=(unshare --net)

	((EUID == 0)) || private=(unshare --user --map-root-user --net)
	# shellcheck disable=SC2016
	"${private[@]}" sh -c 'ip link set lo up && exec "$@"' sh "$@"
}

# ktap_build FOLDER LOG TARGETS... [-- CMAKE-ARGS...]: builds them; says why not. One step
# at a time in each folder, for some run side by side.
ktap_build() {
	local folder=$1 log=$2 targets=()

	shift 2
	while (($#)) && [[ $1 != -- ]]; do
		targets+=("$1")
		shift
	done
	mkdir -p "$folder" "${log%/*}"
	flock "$folder/ktap.lock" cmake -S . -B "$folder" -G Ninja --log-level=NOTICE "${@:2}" \
		>"$log" 2>&1 &&
		flock "$folder/ktap.lock" cmake --build "$folder" --target "${targets[@]}" \
			>>"$log" 2>&1 && return
	tail -n 30 "$log" | sed 's/^/# /'
	return 1
}

# ktap_build_checked KIND LOG TARGETS...: the same with sanitizers, KIND being address (with
# undefined) or thread, into a folder for all steps: $ktap_checked.
ktap_build_checked() {
	local kind=$1

	shift
	ktap_checked=$(realpath -m "${UBOE_BUILD:-build}")/checked-$kind
	ktap_build "$ktap_checked" "$@" -- -DUBOE_RDMA_CORE_SRC=OFF \
		"-DUBOE_SANITIZE=${kind/address/address,undefined}"
}

# ktap_end: prints the plan and exits.
ktap_end() {
	echo "1..$ktap_count"
	((ktap_failures == 0)) || exit 1
	exit 0
}
