"""PLACEHOLDER until i29/descriptions is merged: free bodies after the joints of one model."""
from dataclasses import replace

import numpy as np

from screw_dynamics.model.builder import ModelBuilder


def join(model, bodies):
    """The model with free bodies [(name, inertia)] on its root."""
    b = ModelBuilder(model.root)
    for name, inertia in bodies:
        b.add_group_joint("free", name, name, model.root, inertia=inertia)
    more, k, n = b.build(), len(model.parents), model.n
    arrays = {}
    for name in ("screws_body", "relative_poses", "inertias", "lower", "upper", "velocity_limit", "effort_limit", "damping",
                 "friction", "armature"):
        arrays[name] = np.concatenate([getattr(model, name), getattr(more, name)])
    for name in ("joint_names", "joint_kinds", "body_names", "body_joints"):
        arrays[name] = getattr(model, name) + getattr(more, name)
    frames = dict(model.frames) | {name: (i + k, C) for name, (i, C) in more.frames.items() if name != model.root}
    return replace(model, **arrays, parents=np.concatenate([model.parents, np.where(more.parents < 0, -1, more.parents + k)]),
                   coordinates=np.concatenate([model.coordinates, more.coordinates + n]), frames=frames,
                   mimics=dict(model.mimics), joint_frames=dict(model.joint_frames) | dict(more.joint_frames))
