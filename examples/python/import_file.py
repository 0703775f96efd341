"""Imports a file of books with Python's standard library alone.

python3 import_file.py books.csv [dates=dmy …]
"""

import json
import os
import sys
import time
import urllib.request

URL = os.environ.get("CATALOGUE_URL", "http://localhost:8080")
HEADERS = {
    "Authorization": f"Bearer {os.environ.get('TOKEN')}",
    "Content-Type": "application/octet-stream",  # what it is, the catalogue finds out
}


def ask(path, body=None):
    return urllib.request.urlopen(urllib.request.Request(URL + path, body, HEADERS))


def main(path, *parameters):
    with open(path, "rb") as file, ask("/api/imports?" + "&".join(parameters), file) as response:
        state = json.load(response)["data"]
    while state["status"] in ("waiting", "reading", "importing"):
        time.sleep(0.2)
        with ask(f"/api/imports/{state['id']}") as response:
            state = json.load(response)["data"]
    print(state["message"], ", ".join(f"{count} {what}" for what, count in state["counts"].items() if count))
    if state["question"]:
        for answer in state["question"]["answers"]:
            print(f"{state['question']['parameter']}={answer['value']}: {answer['meaning']}")
    if state["rejects"]["url"]:
        with ask(state["rejects"]["url"]) as response, open(path + ".rejects.csv", "wb") as rejects:
            rejects.write(response.read())
        print(f"What is wrong with the others is in {path}.rejects.csv, which can be mended and imported")
    sys.exit(state["status"] != "done")


if __name__ == "__main__":
    main(*sys.argv[1:])
