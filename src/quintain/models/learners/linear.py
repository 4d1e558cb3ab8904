"""The linear models of our own, from votes as well as from answers."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal, cast

from quintain.core import spec_kinds as kinds
from quintain.core.errors import BadInput
from quintain.core.spec import N_, option, specification
from quintain.core.task import Task
from quintain.models.contract import BASELINES, Handler, load
from quintain.models.labelled import MassBaseline
from quintain.models.learning import FINAL, LEARNERS, Learned, Learner, Lesson, Lessons, scorer
from quintain.models.schedule import BestSoFar, Schedule

Features = Literal["ngram", "tfidf"]


@specification
class LinearOptions:
    """What the linear learner takes."""

    features: Features = option(
        kinds.one_of(("ngram", "tfidf")),
        default="ngram",
        title=N_("Features"),
        help=N_("Hashed n-grams, fast on any size of data; or words and word pairs weighed by tf-idf."),
    )
    epochs: int | None = option(
        kinds.whole(1, 10_000),
        default=None,
        title=N_("Epochs"),
        help=N_("How often it goes through the data: 8 with n-grams (fewer where there are many), 300 with tf-idf."),
    )


@LEARNERS.register("linear")
class Linear(Learner):
    """Train one of the baselines that can learn from mass."""

    name: ClassVar[str] = "linear"
    title: ClassVar[str] = "Linear model"
    about: ClassVar[str] = "It adds up weights of the words, word pairs and pieces of words of a text."
    adapter: ClassVar[str] = "builtin"
    options = LinearOptions
    chosen: LinearOptions

    def check_trainable(self, task: Task, start: Path | None) -> None:
        """Refuse to go on from a model of another kind."""
        if start is not None:
            self._start(start)

    def load(self, task: Task, folder: Path) -> Handler:
        """Load the baseline."""
        return load(folder)

    def learn(self, lesson: Lesson) -> Lessons:
        """Learn in one go: it takes a minute at most, so after a break it begins again."""
        model = cast(MassBaseline, BASELINES.get(self.chosen.features)(lesson.task))
        start = self._start(lesson.start) if lesson.start else None
        scores: list[float] = []
        models: list[Learned] = []
        best, epoch = BestSoFar(lesson.patience), 0
        held = (dict(model.state), dict(model.arrays))
        score = scorer(lesson) if lesson.keeps_best else None

        def after(number: int) -> bool:
            nonlocal epoch, held
            model.prepare()
            scores.append(score(model) if score else 0.0)
            if best.seen(scores[-1]):
                epoch, held = number, (dict(model.state), dict(model.arrays))
            return best.is_over

        def kept(share: float) -> None:
            folder = lesson.place / f"at-{share:g}"
            model.save(folder)
            models.append(Learned(folder, share))

        schedule = Schedule(
            seed=lesson.seed,
            epochs=self.chosen.epochs,
            progress=lesson.progress,
            after=after if score else None,
            at=sorted(lesson.checkpoints),
            kept=kept,
        )
        model.learn(lesson.mix.table, lesson.mix.mass(), schedule, start)
        if score:
            model.state, model.arrays = held
        model.prepare()
        model.save(lesson.place / FINAL)
        models.append(Learned(lesson.place / FINAL))
        facts = {"Features": model.title}
        return Lessons(tuple(models), model, len(scores), epoch or None, tuple(scores), facts, model.about)

    def _start(self, folder: Path) -> MassBaseline:
        baseline = load(folder)
        if baseline.name != self.chosen.features or not isinstance(baseline, MassBaseline):
            raise BadInput(
                "The model to go on from is a baseline '{name}', and the recipe's features are '{features}'.",
                name=baseline.name,
                features=self.chosen.features,
                remedy='Write features = "{name}" under [options], or begin from scratch.',
            )
        return baseline
