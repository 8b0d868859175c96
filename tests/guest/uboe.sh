# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Sourced in a guest: uboe devices, pairs of programs, results in KTAP.

# shellcheck source=../../qemu/guest/lib.sh
. "$UBOE_GUEST_LIB"
# shellcheck source=../ktap.sh
. "$UBOE_TREE/tests/ktap.sh"

export IBV_DRIVERS=$UBOE_BUILD/lib/libuboe
programs=$UBOE_BUILD/tests/programs
log=/tmp/uboe-logs
mkdir -p "$log"

# uboe_load: the module and what it needs; no link yet.
uboe_load() {
	vm_rdma_core
	insmod "$UBOE_KMOD/uboe.ko" "$@"
}

# uboe_gid DEV ADDRESS: index of the address in the device's GID table, when it
# is there.
uboe_gid() {
	local want have file bytes

	if [[ $2 == *:* ]]; then
		want=$(python3 -c 'import ipaddress, sys
print(ipaddress.ip_address(sys.argv[1]).exploded)' "$2")
	else
		IFS=. read -ra bytes <<<"$2"
		printf -v want '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "${bytes[@]}"
	fi
	for file in /sys/class/infiniband/"$1"/ports/1/gids/*; do
		# an entry may go while it is read
		if { read -r have <"$file"; } 2>/dev/null && [[ $have == "$want" ]]; then
			echo "${file##*/}"
			return 0
		fi
	done
	return 1
}

# uboe_loop [MTU]: uboe0 and uboe1 on the two ends of a veth pair of this guest.
uboe_loop() {
	vm_veth_loop "${1:-1500}"
	uboe_links
}

# uboe_links: the same where the pair is there
uboe_links() {
	rdma link add uboe0 type uboe netdev veth0
	rdma link add uboe1 type uboe netdev veth1
	vm_until 10 uboe_gid uboe0 10.1.0.1 >/dev/null
	vm_until 10 uboe_gid uboe1 10.1.0.2 >/dev/null
}

# uboe_counter DEV NAME
uboe_counter() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }

# uboe_counters DEV: those that are not zero
uboe_counters() {
	local file value

	for file in /sys/class/infiniband/"$1"/ports/1/hw_counters/*; do
		value=$(cat "$file" 2>/dev/null) || continue
		[[ ${file##*/} == lifespan || $value == 0 ]] || printf '%s=%s ' "${file##*/}" "$value"
	done
	echo
}

# uboe_pair NAME PROGRAM ARGS...: server on uboe1, client on uboe0, both must end well.
uboe_pair() {
	local name=$1 program=$2 server status=0 gid0 gid1
	local dev=-d gid=-x

	shift 2
	gid0=$(uboe_gid uboe0 10.1.0.1) && gid1=$(uboe_gid uboe1 10.1.0.2) || {
		ktap_not_ok "$name"
		return 0
	}
	[[ $program == ibv_* ]] && gid=-g
	timeout "${PAIR_TIMEOUT:-120}" "$program" $dev uboe1 $gid "$gid1" "$@" >"$log/server" 2>&1 &
	server=$!
	vm_until 10 sh -c 'ss -ltn | grep -q ":18515 "' || true
	timeout "${PAIR_TIMEOUT:-120}" "$program" $dev uboe0 $gid "$gid0" "$@" 127.0.0.1 \
		>"$log/client" 2>&1 || status=$?
	wait $server || status=$?
	if ((status == 0)); then
		ktap_ok "$name"
	else
		tail -n 8 "$log/client" "$log/server" | sed 's/^/# /'
		uboe_counters uboe0 | sed 's/^/# uboe0: /'
		uboe_counters uboe1 | sed 's/^/# uboe1: /'
		ktap_not_ok "$name"
	fi
}

# uboe_hello CLIENT-EID SERVER-EID PREFIX...: the example program, server here, client
# behind PREFIX; the server has to see what the client wrote and sent.
uboe_hello() {
	local hello=$UBOE_BUILD/examples/hello client=$1 eid=$2 server status=0 descriptor=

	shift 2
	: >"$log/hello-server"
	timeout 60 "$hello" server "$eid" "$client" >>"$log/hello-server" 2>&1 &
	server=$!
	vm_until 20 test -s "$log/hello-server" || true
	read -r descriptor <"$log/hello-server"
	"$@" timeout 60 "$hello" client "$descriptor" "$client" >"$log/hello-client" 2>&1 ||
		status=$?
	wait "$server" || status=$?
	grep -q "memory: written by $client" "$log/hello-server" || status=1
	((status == 0)) || sed 's/^/# /' "$log/hello-server" "$log/hello-client"
	return "$status"
}

# uboe_conforms FILTER: tests of the URMA API between uboe0 and uboe1.
uboe_conforms() {
	local -x URMA_TEST_DEVICE=uboe0 URMA_TEST_PEER=uboe1 URMA_LOG_LEVEL=0

	"$UBOE_BUILD/tests/urma/urma_conformance_test" --gtest_color=no --gtest_filter="$1" \
		>"$log/urma" 2>&1 &&
		grep -E '^\[==========\].*ran|SKIPPED|^\[  PASSED' "$log/urma" | sort -u |
		sed 's/^/# /' && return
	grep -vE '^\[ (      OK|RUN  )' "$log/urma" | tail -n 60 | sed 's/^/# /'
	return 1
}

# uboe_impair DEV SPEC
uboe_impair() { echo "$2" >"/sys/kernel/debug/uboe/$1/impair"; }

# uboe_gone: no object of any process is left on the devices
uboe_gone() {
	local left

	left=$(rdma resource show 2>/dev/null | grep -oE '(qp|cq|mr|srq|ctx|pd) [1-9][0-9]*' || true)
	[[ -z $left ]] || {
		echo "# left: $left"
		return 1
	}
}
