"""Prints every connection that the policies of a file of manifests allow: [from, to, protocols, ports], one a line."""

import contextlib
import json
import sys

from nca.NetworkConfig.ResourcesHandler import ResourcesHandler

# The analyzer tells what it does on standard output.
with contextlib.redirect_stdout(sys.stderr):
    config = ResourcesHandler().get_network_config(None, None, None, sys.argv[1:])
    everyone = config.peer_container.get_all_peers_group()
    connections = config.allowed_connections().all_allowed_conns
for one in connections:
    cube = connections.get_connectivity_cube(one)
    side = lambda name: cube[name] if cube.is_active_dim(name) else everyone
    text = lambda name: str(cube[name]) if cube.is_active_dim(name) else "any"
    for source in side("src_peers"):
        for target in side("dst_peers"):
            print(json.dumps([str(source), str(target), text("protocols"), text("dst_ports")]))
