"""Makes the rounds of 'tfm plan' with Spark, a stage of workers each:

  spark-submit --conf spark.task.cpus=16 train.py TFM DIR

DIR is the folder of the plan, which all machines see under this path, as they do the corpora; TFM,
a path or a name on the PATH, is copied to each executor. Spark repeats a task that fails, and with
spark.speculation copies late ones. Run again after a failure, it makes what is missing.
DIR/model.safetensors is the model.
"""

import os
import re
import shutil
import subprocess
import sys

from pyspark import SparkContext, SparkFiles


def run(program, *arguments):
    """Runs the program, and again while it says that this may help."""
    tfm = SparkFiles.get(program)
    os.chmod(tfm, 0o755)
    for attempt in range(3):
        done = subprocess.run([tfm, *map(str, arguments)], stderr=subprocess.PIPE)
        if done.returncode != 75:
            break
    if done.returncode:
        raise RuntimeError(f"tfm: exit code {done.returncode}: {done.stderr.decode()[-2000:]}")


if __name__ == "__main__":
    tfm, directory = sys.argv[1:]
    tfm, directory = shutil.which(tfm) or tfm, os.path.abspath(directory)
    plan = dict(re.findall(r"^([\w-]+) = (\d+)$", open(f"{directory}/plan.conf").read(), re.M))
    workers = int(plan["workers"])
    spark = SparkContext.getOrCreate()
    spark.addFile(tfm)
    program, threads = os.path.basename(tfm), spark.getConf().get("spark.task.cpus", "1")
    for number in range(1, int(plan["rounds"]) + 1):
        spark.parallelize(range(workers), workers).foreach(lambda worker: run(program, "work", "-threads", threads, directory, number, worker))
        run(program, "merge", directory, number)
