"""Publishers as a stranger on the network may have them: of a type whose name is anything, even no text."""

import contextlib
import ctypes
import itertools

import rclpy
from rclpy.serialization import serialize_message
from std_msgs.msg import String

_KEPT = []      # what the middleware reads as long as a publisher lives


class _TypeSupport(ctypes.Structure):
    """rosidl_message_type_support_t."""


_FUNCTION = ctypes.CFUNCTYPE(ctypes.POINTER(_TypeSupport), ctypes.POINTER(_TypeSupport), ctypes.c_char_p)
_TypeSupport._fields_ = [("identifier", ctypes.c_char_p), ("data", ctypes.c_void_p), ("function", _FUNCTION),
                         *((name, ctypes.c_void_p) for name in ("hash", "description", "sources"))]
_CALLBACKS = 12     # pointers that are read of message_type_support_callbacks_t, whose first two are its names
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def message_type(namespace: bytes, name: bytes) -> type:
    """A class for publishers whose messages are std_msgs/String, by another name: b"this::msg", b"X" is this/msg/X."""
    if String._TYPE_SUPPORT is None:
        String.__import_type_support__()
    original = String._TYPE_SUPPORT
    handle = ctypes.cast(_pointer(original, _name(original)), ctypes.POINTER(_TypeSupport))
    found = handle.contents.function(handle, b"rosidl_typesupport_fastrtps_c").contents
    callbacks = (ctypes.c_void_p * _CALLBACKS).from_buffer_copy(ctypes.string_at(found.data, 8 * _CALLBACKS))
    names = ctypes.c_char_p(namespace), ctypes.c_char_p(name)
    for k, text in enumerate(names):
        callbacks[k] = ctypes.cast(text, ctypes.c_void_p).value
    support = _TypeSupport.from_buffer_copy(found)
    support.data = ctypes.addressof(callbacks)
    _KEPT.extend((support, callbacks, names))
    capsule = _capsule(ctypes.addressof(support), _name(original), None)
    kind = type("Metaclass", (type(String),), {"_TYPE_SUPPORT": capsule})
    return kind("Foreign", (String,), {"__slots__": ()})


@contextlib.contextmanager
def participant(name):
    """A node with a participant of its own, as another process has it: one participant has one type of a topic."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node(name, context=context)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


class Stranger:
    """Publishes on a topic of a node, under types of any name, while a test lasts."""

    def __init__(self, node):
        self._node, self._publishers, self._count = node, [], itertools.count()

    def publish(self, topic, namespace, name):
        """Publish one message, and be seen from then on."""
        publisher = self._node.create_publisher(message_type(namespace, name), topic, 10)
        self._publishers.append(publisher)
        publisher.publish(serialize_message(String(data=f"{next(self._count)}")))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for publisher in self._publishers:
            self._node.destroy_publisher(publisher)
