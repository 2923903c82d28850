"""What is in an MCAP file."""

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory


def messages(path):
    """{topic: messages} of a file, by a reader that knows nothing of our types."""
    found = {}
    with open(path, "rb") as file:
        for _, channel, _, message in make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages():
            found.setdefault(channel.topic, []).append(message)
    return found
