"""A Kafka of one broker from its released artifacts, and Spark's connector to it: both from the package registry, by
Maven.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KAFKA = "3.9.2"
# The newest connector, and the newest of its two parts that had been published with it when this was written.
CONNECTOR = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.spark:spark-avro_2.13:4.0.0",
    "org.apache.commons:commons-pool2:2.13.1",
    f"org.apache.kafka:kafka-clients:{KAFKA}",
)
_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>cepc</groupId><artifactId>broker</artifactId><version>1</version><dependencies>{}</dependencies></project>"""


class NotAvailableError(Exception):
    """Why there is no broker."""


def artifacts() -> tuple[Path, Path]:
    """Folders with the jars of the broker and of the connector; fetched once. Raises NotAvailableError."""
    if os.environ.get("CEPC_KAFKA") != "1":
        raise NotAvailableError("CEPC_KAFKA=1 fetches Kafka (40 MB, a minute) and runs this")
    if shutil.which("mvn") is None or shutil.which("java") is None:
        raise NotAvailableError("there is no mvn, or no java")
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "cepc-tests" / f"kafka-{KAFKA}"
    broker, connector = folder / "broker", folder / "connector"
    if not (folder / "whole").exists():
        for one in (broker, connector):
            one.mkdir(parents=True, exist_ok=True)
        wanted = "".join(
            f"<dependency><groupId>org.apache.kafka</groupId><artifactId>{name}</artifactId><version>{KAFKA}</version></dependency>"
            for name in ("kafka_2.13", "kafka-tools")
        )
        (folder / "pom.xml").write_text(POM.format(wanted))
        maven(folder, "copy-dependencies", f"-DoutputDirectory={broker}", "-DincludeScope=runtime")
        for artifact in CONNECTOR:
            maven(folder, "copy", f"-Dartifact={artifact}", f"-DoutputDirectory={connector}")
        (folder / "whole").touch()
    return broker, connector


def maven(folder: Path, goal: str, *arguments: str) -> None:
    """A goal of the dependency plugin for the folder's `pom.xml`. Raises NotAvailableError."""
    found = subprocess.run(
        ["mvn", "-q", "-B", f"{_PLUGIN}:{goal}", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if found.returncode:
        said = [line for line in found.stdout.splitlines() if "ERROR" in line]
        raise NotAvailableError(f"mvn {goal} failed: {said[0] if said else found.stdout}")


class Broker:
    def __init__(self, jars: Path, servers: str) -> None:
        self.jars, self.servers = jars, servers
        self.headers: dict[str, str] = {}

    def produce(self, topic: str, records: Iterable[tuple[str, str | None]]) -> None:
        """Records with a key, in the order given for each key; None is no value."""
        lines = "".join(f"{key}\t{'NULL' if value is None else value}\n" for key, value in records)
        run(self.jars, "kafka.tools.ConsoleProducer", "--bootstrap-server", self.servers, "--topic", topic,
            "--property", "parse.key=true", "--property", "null.marker=NULL", text=lines)  # fmt: skip

    def consume(self, topic: str, count: int) -> list[tuple[int, int, str, str]]:
        """Partition, offset, key and value of so many records."""
        said = run(
            self.jars, "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", self.servers,
            "--topic", topic, "--from-beginning", "--max-messages", str(count), "--timeout-ms", "30000",
            *(f"--property=print.{what}=true" for what in ("partition", "offset", "headers", "key")),
        )  # fmt: skip
        found = []
        for line in said.splitlines():
            if line.startswith("Partition:"):
                partition, offset, headers, key, value = line.split("\t", 4)
                found.append((int(partition.partition(":")[2]), int(offset.partition(":")[2]), key, value))
                self.headers[key] = headers
        return found


@contextmanager
def running(folder: Path) -> Iterator[Broker]:
    """Raises NotAvailableError."""
    jars, _ = artifacts()
    port, control = _free_ports()
    servers = f"127.0.0.1:{port}"
    config = folder / "server.properties"
    config.write_text(
        f"process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:{control}\n"
        f"listeners=PLAINTEXT://{servers},CONTROLLER://127.0.0.1:{control}\nadvertised.listeners=PLAINTEXT://{servers}\n"
        "controller.listener.names=CONTROLLER\nlistener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\n"
        f"log.dirs={folder / 'log'}\nnum.partitions=3\noffsets.topic.replication.factor=1\n"
        "transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\ngroup.initial.rebalance.delay.ms=0\n"
    )
    run(jars, "kafka.tools.StorageTool", "format", "-t", uuid.uuid4().hex[:22], "-c", str(config))
    with (folder / "broker.log").open("wb") as said:
        process = subprocess.Popen(_java(jars, "kafka.Kafka", str(config)), stdout=said, stderr=said)
    try:
        _until_up(process, port, folder / "broker.log")
        yield Broker(jars, servers)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def run(jars: Path, main: str, *arguments: str, text: str = "") -> str:
    found = subprocess.run(
        _java(jars, main, *arguments), input=text, capture_output=True, text=True, timeout=120, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def _java(jars: Path, main: str, *arguments: str) -> list[str]:
    return ["java", "-Xmx256m", "-cp", f"{jars}/*", main, *arguments]


def _free_ports() -> tuple[int, int]:
    """Two that are not the same: both are taken until both are known."""
    with socket.socket() as one, socket.socket() as other:
        for taken in (one, other):
            taken.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def _until_up(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    for _ in range(240):
        assert process.poll() is None, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise AssertionError(log.read_text())
