"""Training from the browser and by the API: a form, a file, and following what comes of it."""

from __future__ import annotations

import threading

from quintain.compose import Workspace, trainer_of
from quintain.services.evaluate.training.trainings import train_next
from tests.web_support import browser_of, csrf_of

PAGE = "/tasks/sentiment/train"


def test_a_recipe_is_started_followed_and_its_model_stands_there(own_demo: Workspace) -> None:
    """From the models' page to the form, a worker, the result and the model; over the API it is the same training."""
    client = browser_of(own_demo, "demo-owner")
    assert f'href="{PAGE}"' in client.get("/tasks/sentiment/models").text
    text = client.get(PAGE).text
    assert 'name="copies:sentiment/train@1"' in text
    values = {
        "csrf": csrf_of(client, PAGE),
        "copies:sentiment/train@1": "2",
        "name": "from-the-page",
        "learner": "linear",
        "labels": "majority",
        "dev": "sentiment/dev@1",
        "seeds": "0",
        "visibility": "public",
    }
    wrong = client.post(PAGE, data={**values, "name": "Not A Name", "copies:sentiment/train@1": "many"})
    assert wrong.status_code == 422
    assert "Not A Name" in wrong.text
    assert client.post(PAGE, data={**values, "copies:sentiment/train@1": ""}).status_code == 422
    started = client.post(PAGE, data=values)
    assert started.status_code == 303, started.text
    place = started.headers["location"]
    assert "queued" in client.get(place).text
    trainer = trainer_of(own_demo.settings)
    assert train_next(own_demo.session, own_demo.blobs, trainer, "worker", threading.Event())
    done = client.get(place).text
    assert 'href="/tasks/sentiment/models/from-the-page?version=1"' in done
    assert client.get("/tasks/sentiment/models/from-the-page").status_code == 200
    listed = client.get("/api/v1/tasks/sentiment/trainings").json()["trainings"]
    assert [(one["name"], one["state"]) for one in listed] == [("from-the-page", "done")]


def test_a_recipe_as_toml_can_be_cancelled(own_demo: Workspace) -> None:
    """A shipped recipe is shown as a file; what is started there waits, and can be cancelled; faults stay there."""
    client = browser_of(own_demo, "demo-owner")
    page = client.get(f"{PAGE}?recipe=linear")
    assert "sentiment/train" in page.text
    token = csrf_of(client, PAGE)
    bad = client.post(PAGE, data={"csrf": token, "as_file": "1", "toml": 'task = "sentiment"\nname = "x"\nmixx = 1'})
    assert bad.status_code == 422
    assert "mixx" in bad.text
    toml = 'task = "sentiment"\nname = "x"\n[[mix]]\ndata = "sentiment/train"\n'
    started = client.post(PAGE, data={"csrf": token, "as_file": "1", "toml": toml})
    assert started.status_code == 303, started.text
    place = started.headers["location"]
    assert client.post(f"{place}/cancel", data={"csrf": token}).status_code == 303
    assert "cancelled" in client.get(place).text


def test_workers_may_not_train(own_demo: Workspace) -> None:
    """The pages are for builders and owners."""
    client = browser_of(own_demo, "demo-worker")
    assert client.get(PAGE).status_code == 403
    assert client.get("/api/v1/tasks/sentiment/trainings").status_code == 403
    assert PAGE not in client.get("/tasks/sentiment/models").text
