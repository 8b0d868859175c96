# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Sourced by scripts that run in a guest: . "$UBOE_GUEST_LIB"
# HOST is a or b, PEER the other; UBOE_LANE is uml or qemu; /out keeps results,
# /shared is common to the guests of a run.

case ${HOST:-a} in
a) PEER=b PEER_IP=10.0.0.2 PEER_IP6=fd00::2 MY_IP=10.0.0.1 MY_IP6=fd00::1 ;;
*) PEER=a PEER_IP=10.0.0.1 PEER_IP6=fd00::1 MY_IP=10.0.0.2 MY_IP6=fd00::2 ;;
esac
export PEER PEER_IP PEER_IP6 MY_IP MY_IP6

# vm_signal NAME [TEXT]: the other guest's vm_wait NAME returns (and prints TEXT).
vm_signal() {
	printf '%s\n' "${2:-}" >"/shared/.$1.$HOST.tmp"
	mv "/shared/.$1.$HOST.tmp" "/shared/$1.$HOST"
}

# vm_pause SECONDS: sleeps without starting a program, which is slow in guests.
exec {vm_pause_fd}<> <(:)
vm_pause() { read -rt "$1" -u "$vm_pause_fd" _ || true; }

# vm_wait NAME [SECONDS]: waits for the other guest's vm_signal NAME.
vm_wait() {
	local limit=$((SECONDS + ${2:-60}))

	while [[ ! -e /shared/$1.$PEER ]]; do
		if ((SECONDS >= limit)); then
			echo "vm_wait: host $PEER did not signal '$1'" >&2
			return 1
		fi
		vm_pause 0.1
	done
	cat "/shared/$1.$PEER"
}

# vm_barrier NAME [SECONDS]: both guests are here.
vm_barrier() {
	vm_signal "$1"
	vm_wait "$1" "${2:-60}" >/dev/null
}

# vm_until SECONDS COMMAND...: repeats the command until it succeeds.
vm_until() {
	local limit=$((SECONDS + $1))

	shift
	until "$@"; do
		((SECONDS < limit)) || return 1
		vm_pause 0.05
	done
}

# vm_modules NAME...: loads modules of the running kernel; built-in is fine.
vm_modules() {
	local name

	for name; do
		modprobe -q "$name" || [[ -d /sys/module/$name ]] || {
			echo "vm_modules: no module $name" >&2
			return 1
		}
	done
}

# vm_rdma_core: what every RDMA device needs.
vm_rdma_core() {
	if [[ $UBOE_LANE == qemu ]]; then
		vm_modules ib_core ib_uverbs ib_umad rdma_cm rdma_ucm udp_tunnel ip6_udp_tunnel
	fi
}

# vm_gcov_save DIR [SUBSTRING]: copies coverage counts of the modules' objects
# (debug kernel; module built with GCOV_PROFILE) to DIR before or after rmmod.
vm_gcov_save() {
	local file

	[[ -d /sys/kernel/debug/gcov ]] || return 0
	while read -r file; do
		mkdir -p "$1/$(dirname "${file#/sys/kernel/debug/gcov/}")"
		cat "$file" >"$1/${file#/sys/kernel/debug/gcov/}"
	done < <(find /sys/kernel/debug/gcov -name '*.gcda' -path "*${2:-}*")
}

# vm_veth_loop: two addresses on a veth pair whose traffic really crosses it
# although both ends are in one network namespace: 10.1.0.1 veth0, 10.1.0.2 veth1.
vm_veth_loop() {
	local mtu=${1:-1500} dev mac0 mac1

	ip link add veth0 mtu "$mtu" type veth peer name veth1 mtu "$mtu"
	for dev in veth0 veth1; do
		sysctl -q -w "net.ipv4.conf.$dev.accept_local=1" \
			"net.ipv4.conf.$dev.rp_filter=0" "net.ipv4.conf.$dev.arp_ignore=1"
		ip link set "$dev" up
	done
	sysctl -q -w net.ipv4.conf.all.rp_filter=0
	# one program instead of nine
	ip -batch - <<-EOF
		addr add 10.1.0.1/24 dev veth0
		addr add 10.1.0.2/24 dev veth1
		rule add pref 1 iif veth0 lookup local
		rule add pref 2 iif veth1 lookup local
		route add 10.1.0.0/24 dev veth0 src 10.1.0.1 table 100
		route add 10.1.0.0/24 dev veth1 src 10.1.0.2 table 101
		rule add pref 10 from 10.1.0.1 to 10.1.0.2 lookup 100
		rule add pref 11 from 10.1.0.2 to 10.1.0.1 lookup 101
		rule add pref 100 lookup local
		rule del pref 0
	EOF
	mac0=$(cat /sys/class/net/veth0/address)
	mac1=$(cat /sys/class/net/veth1/address)
	ip neigh replace 10.1.0.2 lladdr "$mac1" dev veth0 nud permanent
	ip neigh replace 10.1.0.1 lladdr "$mac0" dev veth1 nud permanent
}
