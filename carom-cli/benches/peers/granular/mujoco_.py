"""The pour in MuJoCo, one thread. The fifth word is its solver: Newton, CG or PGS."""
import sys
import time

import mujoco
from common import DENSITY, G, R, Report, arguments, boxes, places

n, steps, h, mu = arguments()
words = [
    f'<mujoco><option timestep="{h}" gravity="0 0 {-G}" solver="{sys.argv[5]}"/><size memory="2G"/>',
    f'<default><geom friction="{mu} 0 0" condim="3"/></default><worldbody>',
]
for half, middle in boxes():
    words.append('<geom type="box" size="%r %r %r" pos="%r %r %r"/>' % (*half, *middle))
for place in places(n):
    ball = f'<geom type="sphere" size="{R}" density="{DENSITY}"/>'
    words.append('<body pos="%r %r %r"><freejoint/>' % place + ball + "</body>")
model = mujoco.MjModel.from_xml_string("".join(words) + "</worldbody></mujoco>")
data = mujoco.MjData(model)
report = Report(steps)
for _ in range(steps):
    clock = time.process_time()
    mujoco.mj_step(model, data)
    report.step(time.process_time() - clock)
report.end(data.qpos.reshape(-1, 7)[:, :3], data.qvel.reshape(-1, 6)[:, :3], data.ncon)
