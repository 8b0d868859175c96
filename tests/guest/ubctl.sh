# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Sourced in a guest that has uboe0 and uboe1 (uboe.sh): what ubctl says of them, and
# does to them. ubctl_check leaves both as they were.

ubctl=$UBOE_BUILD/tools/ubctl/ubctl

# ubctl_says NAME CONDITION ARGS...: exit status 0, and CONDITION of Python holds for its
# JSON, which is r. That is for ubctl_verdicts to find out: starting Python is slow here.
ubctl_says() {
	local name=$1 condition=$2 n=${#ubctl_said[@]} status=0

	shift 2
	"$ubctl" -j "$@" >"$log/ubctl.$n" 2>&1 || status=$?
	ubctl_said+=("$name" "$condition" "$status" "$log/ubctl.$n")
}
ubctl_said=()

# ubctl_verdicts: results of all ubctl_says since the last.
ubctl_verdicts() {
	local verdict name

	while IFS=$'\t' read -r verdict name; do
		case $verdict in
		good) ktap_ok "$name" ;;
		bad) ktap_not_ok "$name" ;;
		*) echo "# $verdict$name" ;;
		esac
	done < <(python3 - "${ubctl_said[@]}" <<-'EOF'
		import json, sys
		args = sys.argv[1:]
		while args:
		    name, condition, status, file = args[:4]
		    args = args[4:]
		    text = open(file).read()
		    try:
		        good = status == "0" and eval("(" + condition + ")", {"r": json.loads(text)})
		    except Exception as e:
		        good, text = False, f"{e!r}: {text}"
		    if not good:
		        print(f"status {status}", text[:2000], sep="\n")
		    print("good" if good else "bad", name, sep="\t")
	EOF
	)
	ubctl_said=()
}

# ubctl_fails STATUS TEXT ARGS...
ubctl_fails() {
	local want=$1 text=$2 out status=0

	shift 2
	out=$("$ubctl" "$@" 2>&1) || status=$?
	((status == want)) && grep -qi -- "$text" <<<"$out" && return
	echo "# status $status: $out"
	return 1
}

# ubctl_nobody TEXT ARGS...: what it prints for a user without any capability has TEXT.
# The tree may be in a folder that only root can enter.
ubctl_nobody() {
	local text=$1 out

	shift
	mkdir -p /tmp/nobody
	cp -u "$ubctl" "$UBOE_BUILD"/lib/liburma-uboe.so.0 /tmp/nobody
	out=$(LD_LIBRARY_PATH=/tmp/nobody setpriv --reuid 65534 --regid 65534 --clear-groups \
		/tmp/nobody/ubctl "$@" 2>&1)
	grep -qE -- "$text" <<<"$out" && return
	echo "# $out"
	return 1
}

ubctl_idle() {
	ubctl_says "ubctl dev: both, with what is known" \
		'{d["device"]: d["state"] for d in r if d["kind"] == "kernel"} ==
		 {"uboe0": "ACTIVE", "uboe1": "ACTIVE"} and
		 r[0]["netdev"] == "veth0" and r[0]["driver_id"] == 0x5542 and r[0]["eids"] > 0' dev
	ubctl_says "ubctl dev: the in-process one as well" \
		'[d["kind"] for d in r if d["device"] == "inproc0"] == ["in-process"]' dev
	ubctl_says "ubctl eid" \
		'{"device": "uboe0", "eid": "10.1.0.1"}.items() <=
		 [e for e in r if e["eid"] == "10.1.0.1"][0].items()' eid uboe0
	ubctl_says "ubctl link" 'len(r) == 1 and r[0]["state"] == "ACTIVE"' link show uboe1
	ubctl_says "ubctl counters: all, drops among them" \
		'"tx_packets" in r[0]["counters"] and
		 [n for n in r[0]["counters"] if n.startswith("drop_")]' counters uboe0
	ubctl_says "ubctl counters --drops" \
		'r[0]["counters"] and not [n for n in r[0]["counters"] if not n.startswith("drop_")]' \
		counters --drops
	ubctl_says "ubctl jetty: none" 'r == []' jetty
	ktap_run "ubctl: a device that is not there" ubctl_fails 1 "no device uboe7" jetty uboe7
	ktap_run "ubctl: in-process has nothing to show" ubctl_fails 1 "in the process" jetty inproc0
}

# Objects of a program: a server of Debian's that waits for its client, and one with an SRQ.
ubctl_objects() {
	local gid0 gid1 waiting srq

	gid0=$(uboe_gid uboe0 10.1.0.1)
	gid1=$(uboe_gid uboe1 10.1.0.2)
	timeout 600 ibv_rc_pingpong -d uboe1 -g "$gid1" -e -n 5 >"$log/waiting" 2>&1 &
	waiting=$!
	timeout 600 ibv_srq_pingpong -d uboe0 -g "$gid0" -p 18600 -e >"$log/srq" 2>&1 &
	srq=$!
	vm_until 100 sh -c 'ss -ltn | grep -q ":18515 " && ss -ltn | grep -q ":18600 "'
	ubctl_says "ubctl jetty" \
		"len(r) == 1 and r[0]['type'] == 'RC' and r[0]['state'] == 'INIT' and
		 r[0]['pid'] > $waiting and r[0]['program'] == 'ibv_rc_pingpong' and
		 r[0]['tp'] is None and r[0]['receive_queue'] > 0" jetty uboe1
	ubctl_says "ubctl jetty: of all devices" \
		'{j["device"] for j in r} == {"uboe0", "uboe1"}' jetty
	ubctl_says "ubctl jfc" "len(r) == 1 and r[0]['depth'] > 0" jfc uboe1
	ubctl_says "ubctl jfr" "len(r) == 1 and r[0]['program'].startswith('ibv_srq')" jfr uboe0
	ubctl_says "ubctl seg" \
		'len(r) == 1 and r[0]["length"] == 4096 and
		 int(r[0]["rkey"], 16) >> 12 == int(r[0]["token_id"], 16)' seg uboe1
	ktap_run "ubctl seg: keys are not for everybody" ubctl_nobody '4096 +- +- ' seg uboe1
	ubctl_says "ubctl tp: none yet" 'r == []' tp
	ubctl_says "ubctl dev: how many" \
		'r[0]["objects"]["jetties"] == 1 and r[0]["objects"]["segments"] == 1' dev uboe1
	timeout 600 ibv_rc_pingpong -d uboe0 -g "$gid0" -e -n 5 127.0.0.1 >"$log/client" 2>&1
	ktap_run "ubctl: the program has ended well" wait "$waiting"
	kill "$srq"
	wait "$srq"
	ubctl_says "ubctl counters --nonzero: what it sent" \
		'r[0]["counters"]["tx_packets"] > 0 and 0 not in r[0]["counters"].values()' \
		counters --nonzero uboe0
}

# A channel exists while data flow: slowly, for this
ubctl_channel() {
	local gid0 gid1 server client

	gid0=$(uboe_gid uboe0 10.1.0.1)
	gid1=$(uboe_gid uboe1 10.1.0.2)
	ubctl_says "ubctl impair: set" \
		'r[0]["loss"] == 15000 and r[0]["delay_us"] == 5000 and r[0]["dup"] == 1 and
		 r[0]["packets"] == 0' impair uboe0 loss=1.5% delay=5ms dup=1
	timeout 600 ibv_rc_pingpong -d uboe1 -g "$gid1" -e -n 100000 >"$log/server" 2>&1 &
	server=$!
	vm_until 100 sh -c 'ss -ltn | grep -q ":18515 "'
	timeout 600 ibv_rc_pingpong -d uboe0 -g "$gid0" -e -n 100000 127.0.0.1 >"$log/client" 2>&1 &
	client=$!
	vm_until 100 sh -c "[ \$('$ubctl' tp | grep -c READY) = 2 ]"
	ubctl_says "ubctl tp: of both ends" \
		'len(r) == 2 and r[0]["tp"].startswith("0x") and r[0]["state"] == "READY" and
		 r[0]["peer_jetty"] == r[1]["jetty"] and r[1]["peer_jetty"] == r[0]["jetty"]' tp
	"$ubctl" -j counters uboe0 -w 0.1 -c 3 >"$log/watch"
	ktap_run "ubctl counters --watch: lines of JSON" \
		sh -c "[ \$(grep -c '^\[{.*\"tx_packets\":[0-9].*}\]\$' '$log/watch') = 3 ]"
	ktap_run "ubctl counters --watch: the first has no changes" \
		sh -c "[ \$(grep -c changes '$log/watch') = 2 ]"
	ubctl_says "ubctl impair: packets are delayed" \
		'r[0]["delayed"] > 0 and r[0]["packets"] >= r[0]["delayed"]' impair show uboe0
	kill "$client" "$server"
	wait "$client" "$server"
	ubctl_says "ubctl impair: off" \
		'[r[0][k] for k in ("loss", "dup", "delay_us")] == [0, 0, 0]' impair uboe0 off
	ubctl_says "ubctl impair: of all" 'len(r) == 2' impair
	ktap_run "ubctl impair: no such knob" ubctl_fails 2 "loss, dup" impair uboe0 lose=1%
	ktap_run "ubctl impair: out of range" ubctl_fails 2 "100%" impair uboe0 loss=101%
	ktap_run "ubctl impair: root only" ubctl_nobody "root only" impair uboe0
}

ubctl_links() {
	ktap_run "ubctl link add" sh -c "
		ip link add dummy7 type dummy && ip link set dummy7 up &&
		'$ubctl' link add uboe7 netdev dummy7"
	ubctl_says "ubctl link add: it is there" \
		'r[0]["netdev"] == "dummy7" and r[0]["state"] == "ACTIVE"' dev uboe7
	ktap_run "ubctl link add: twice" ubctl_fails 1 "has a device" link add uboe8 netdev dummy7
	ktap_run "ubctl link add: no interface" ubctl_fails 1 "no interface" link add uboe8 netdev nosuch
	ktap_run "ubctl link add: no type" ubctl_fails 1 "type nosuch" \
		link add uboe8 netdev dummy7 type nosuch
	ktap_run "ubctl link add: root only" ubctl_nobody "no permission" \
		link add uboe8 netdev dummy7
	ktap_run "ubctl link delete: root only" ubctl_nobody "no permission" \
		link delete uboe7
	ktap_run "ubctl link delete" "$ubctl" link delete uboe7
	ktap_run "ubctl link delete: it is gone" ubctl_fails 1 "no device uboe7" dev uboe7
	ip link delete dummy7
}

ubctl_check() {
	ubctl_idle
	ubctl_objects
	ubctl_channel
	ubctl_links
	ubctl_verdicts
}
