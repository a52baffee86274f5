"""Translates a table with Spark:

  spark-submit --conf spark.task.cpus=2 translate.py TFM MODEL IN OUT [flag of tfm translate]...

IN has a column text and is read as Parquet, or as JSON lines if its name ends so; OUT gets its
columns and translation. Program, a path or a name on the PATH, and model are copied to each executor. A task fails, and is run
again, unless the program ends with 0 and has answered every row of its partition. -sample needs a
column of IN as -key, because a shuffle changes the places of rows.
"""

import os
import shutil
import subprocess
import sys
import threading

from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType


def translate(rows, program, arguments):
    """Yields rows of JSON with translations."""
    command = [program, "translate", "-json", *arguments]
    command = [SparkFiles.get(word[1:]) if word.startswith("@") else word for word in command]
    os.chmod(command[0], 0o755)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    fed = []  # the number of rows, or what went wrong

    def feed():
        try:
            with process.stdin as pipe:
                fed.append(sum(1 for row in rows if pipe.write(row + b"\n")))
        except Exception as e:
            fed.append(e)
            process.kill()
    (feeder := threading.Thread(target=feed)).start()
    answers = 0
    try:
        for answers, line in enumerate(process.stdout, 1):
            yield line.decode()
    except GeneratorExit:  # the rest is not wanted
        return process.kill()
    feeder.join()
    if process.wait() or fed != [answers]:
        raise RuntimeError(f"tfm: exit code {process.returncode}, {answers} answers, rows: {fed}")


if __name__ == "__main__":
    program, model, source, target, *flags = sys.argv[1:]
    program, json = shutil.which(program) or program, (".json", ".jsonl", ".json.gz", ".jsonl.gz")
    spark = SparkSession.builder.getOrCreate()
    for file in program, model:
        spark.sparkContext.addFile(file)
    flags += ["-model", "@" + os.path.basename(model), "-threads", spark.conf.get("spark.task.cpus", "1")]
    table = spark.read.json(source, mode="FAILFAST") if source.endswith(json) else spark.read.parquet(source)
    rows = table.fillna("", ["text"]).toJSON(use_unicode=False)
    answers = rows.mapPartitions(lambda part: translate(part, "@" + os.path.basename(program), flags))
    schema = StructType(table.schema.fields).add("translation", "string").add("truncated", "boolean")
    spark.read.schema(schema).json(answers).write.save(target, "json" if target.endswith(json) else "parquet")
