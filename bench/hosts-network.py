"""The network of the hosts bench: every packet between two hosts is late, and some are lost.

python3 hosts-network.py DELAY_MS LOST_OF_10000 HOST=ADDRESS ...

Makes a network card for each host (a TUN device, named as the host), which whoever started it puts into the host's
namespace. Says `ready`. Takes orders on standard input, one a line: `lead ADDRESS HOST` (packets for this address go
to this host from now on), `cut HOST` (neither from nor to it). At the end of the input it says how many packets it
was given and how many of them it lost.
"""

import collections
import fcntl
import os
import random
import select
import socket
import struct
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000

delay = float(sys.argv[1]) / 1000
lost_of_10000 = float(sys.argv[2])
cards = {}
leads = {}
for pair in sys.argv[3:]:
    host, address = pair.split("=")
    card = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(card, TUNSETIFF, struct.pack("16sH14x", host.encode(), IFF_TUN | IFF_NO_PI))
    cards[host] = card
    leads[socket.inet_aton(address)] = card
print("ready", flush=True)

cut = set()
given = lost = 0
on_the_way = collections.deque()  # as all are equally late, the first one in is the first one out
chance = random.Random(26)


def obey(line):
    order, *of = line.split()
    if order == "lead":
        leads[socket.inet_aton(of[0])] = cards[of[1]]
    elif order == "cut":
        cut.add(cards[of[0]])


def take(card):
    """Reads what a host has sent."""
    global given, lost
    while True:
        try:
            packet = os.read(card, 65536)
        except BlockingIOError:
            return
        to = leads.get(packet[16:20]) if packet[0] >> 4 == 4 else None
        if to is None or to in cut or card in cut:
            continue
        given += 1
        if chance.random() * 10000 < lost_of_10000:
            lost += 1
        else:
            on_the_way.append((time.monotonic() + delay, to, packet))


while True:
    wait = max(0, on_the_way[0][0] - time.monotonic()) if on_the_way else None
    for ready in select.select([*cards.values(), 0], [], [], wait)[0]:
        if ready != 0:
            take(ready)
            continue
        text = os.read(0, 4096).decode()
        if not text:
            print(given, lost, flush=True)
            sys.exit()
        for line in text.splitlines():
            obey(line)
    now = time.monotonic()
    while on_the_way and on_the_way[0][0] <= now:
        _, to, packet = on_the_way.popleft()
        if to not in cut:
            try:
                os.write(to, packet)
            except OSError:
                pass  # its host is down, or takes no more for the moment
