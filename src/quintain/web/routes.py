"""Where each address leads: pages for people, then endpoints for programs. A path is found here and nowhere else."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from quintain.core.people import Scope
from quintain.core.records.base import Record
from quintain.core.records.board import Board
from quintain.core.records.jobs import JobStanding
from quintain.core.records.ranking import Uncertainty
from quintain.core.records.release import Release
from quintain.core.records.report import Report
from quintain.core.records.tasks import DatasetVersion
from quintain.web.api.access import people as api_people
from quintain.web.api.answers import as_json
from quintain.web.api.board import board as api_board
from quintain.web.api.collect import eligible as api_eligible
from quintain.web.api.collect import material as api_material
from quintain.web.api.collect import panel_people as api_panel_people
from quintain.web.api.collect import round_pay as api_round_pay
from quintain.web.api.collect import rounds as api_rounds
from quintain.web.api.collect import writing_aids as api_writing_aids
from quintain.web.api.contest import contests as api_contests
from quintain.web.api.contest import pairs as api_pairs
from quintain.web.api.contest import searches as api_searches
from quintain.web.api.contrast import contrast as api_contrast
from quintain.web.api.contrast import published as api_published
from quintain.web.api.data import datasets as api_datasets
from quintain.web.api.evaluate import evaluation as api_evaluation
from quintain.web.api.evaluate import submissions as api_submissions
from quintain.web.api.evaluate import trainings as api_trainings
from quintain.web.api.house import changes as api_changes
from quintain.web.api.house import mail as api_mail
from quintain.web.api.house import personal_data as api_personal_data
from quintain.web.api.house import search as api_search
from quintain.web.api.house import status as api_status
from quintain.web.api.house import waiting as api_waiting
from quintain.web.api.jobs import jobs as api_jobs
from quintain.web.api.models import models as api_models
from quintain.web.api.pay import pay as api_pay
from quintain.web.api.pay import payouts as api_payouts
from quintain.web.api.release import datasheet as api_datasheet
from quintain.web.api.release import releases as api_releases
from quintain.web.api.study import codings as api_codings
from quintain.web.api.study import reports as api_reports
from quintain.web.api.study import studies as api_studies
from quintain.web.api.tasks import tasks as api_tasks
from quintain.web.api.trial import prolific as api_prolific
from quintain.web.api.trial import trials as api_trials
from quintain.web.api.validate import console as api_console
from quintain.web.api.validate import harvests as api_harvests
from quintain.web.api.validate import quiz_use as api_quiz_use
from quintain.web.api.validate import retraction as api_retraction
from quintain.web.api.validate import validation as api_validation
from quintain.web.api.wheel import wheel as api_wheel
from quintain.web.api.work import quizzes as api_quizzes
from quintain.web.guarded_route import OpenRoute, route_class
from quintain.web.pages.access import admin, notifications, own_tokens, translations
from quintain.web.pages.access import sign_in as session
from quintain.web.pages.board import board, models_list
from quintain.web.pages.collect import eligibility, panel_people, round_pay, rounds, write, write_start, writing_aids
from quintain.web.pages.collect import round as round_page
from quintain.web.pages.contest import breaking, building, contests, deciding, judging, searching
from quintain.web.pages.contest import results as contest_results
from quintain.web.pages.contrast import check as contrast_check
from quintain.web.pages.contrast import projects as contrast_projects
from quintain.web.pages.contrast import published as contrast_published
from quintain.web.pages.contrast import results as contrast_results
from quintain.web.pages.contrast import write as contrast_write
from quintain.web.pages.data import datasets, imports, task_from_file
from quintain.web.pages.evaluate import answers, compare, runs, submit, submit_typed, train
from quintain.web.pages.evaluate import results as evaluation
from quintain.web.pages.house import (
    account,
    apidocs,
    demo_roles,
    health,
    home,
    house_state,
    own_work,
    task_overview,
    task_roles,
    task_settings,
    tour,
)
from quintain.web.pages.house import help as help_room
from quintain.web.pages.jobs import jobs
from quintain.web.pages.models import models, talk
from quintain.web.pages.pay import earnings, task_pay
from quintain.web.pages.release import datasheet, release
from quintain.web.pages.study import code as coding_desk
from quintain.web.pages.study import codings, reports, studies
from quintain.web.pages.tasks import tasks
from quintain.web.pages.trial import entry, panel_studies
from quintain.web.pages.trial import grade as trial_grade
from quintain.web.pages.trial import owner as trial_owner
from quintain.web.pages.trial import part as trial_part
from quintain.web.pages.validate import adjudicate, flags, harvests, judge, outcomes, quiz_use
from quintain.web.pages.validate import console as validation
from quintain.web.pages.validate import items as validation_items
from quintain.web.pages.validate import judges as validation_judges
from quintain.web.pages.wheel import timeline
from quintain.web.pages.work import quizzes as onboarding
from quintain.web.scopes import AT_DOORS, scope_of_operation, scope_of_page
from quintain.web.visit import open_request

DESCRIPTION = """\
What the pages offer, for programs. Send an API token as `Authorization: Bearer qt_…`; what is public can
be read without one. Errors have one shape: `{"error": {"code", "message", "remedy", "faults"}}`.
"""
# Paths that end so may receive large files.
UPLOADS = (
    "/data/import",
    "/tasks/new/file",
    "/contrast/import",
    "/submit",
    "/prompts",
    "/datasets",
    "/items",
    "/gold",
    "/harvests",
    "/harvests/jobs",
    "/rounds/harvest",
    "/build/answers",
    "/break/upload",
)


@dataclass(frozen=True, slots=True)
class PageRoute:
    """A page: what is asked for, and the function that answers.

    What changes something is for people who are signed in, unless it is for *anybody*.
    """

    method: str
    path: str
    view: Callable[..., Any]
    anybody: bool = False

    @property
    def scope(self) -> Scope:
        """What a session must be good for that asks for it."""
        return scope_of_page(self.method, self.path)

    def add_to(self, router: APIRouter) -> None:
        """Put the page on *router*."""
        methods = ["GET", "HEAD"] if self.method == "GET" else [self.method]
        kind = route_class(self.method, [self.scope], anybody=self.anybody)
        # A coroutine opens nothing and needs no thread: the probes answer while every thread is taken.
        threaded = not inspect.iscoroutinefunction(self.view)
        router.add_api_route(
            self.path,
            open_request(self.view, [self.scope], anybody=kind is OpenRoute) if threaded else self.view,
            methods=methods,
            include_in_schema=False,
            response_model=None,
            route_class_override=kind,
        )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint of the API; what it takes and gives is read from the function."""

    method: str
    path: str
    view: Callable[..., Any]
    tag: str
    status: int = 200
    media_type: str = ""
    answer: type[Record] | None = None  # where the view writes the answer itself
    by_job: bool = False  # a long answer is written by a job, which is then the answer
    anybody: bool = False  # it changes something, and yet is not only for people who are signed in

    @property
    def name(self) -> str:
        """What the client calls it: a thing that is asked for by its noun, all else by its verb."""
        return re.sub("^(get|list)_", "", self.view.__name__)

    @property
    def scopes(self) -> list[Scope]:
        """What a token must be good for that asks for it: one scope, or all where nobody has said which."""
        scope = scope_of_operation(self.method, self.view.__name__)
        return [*Scope] if scope is None else [scope]

    @property
    def at_doors(self) -> bool:
        """Whether a session that a panel's link began may ask for it."""
        return self.method == "GET" or self.view.__name__ in AT_DOORS

    def add_to(self, router: APIRouter) -> None:
        """Put the endpoint on *router*."""
        responses: dict[int | str, dict[str, Any]] = {}
        if self.media_type:
            responses[self.status] = {"content": {self.media_type: {"schema": {"type": "string", "format": "binary"}}}}
        if self.answer:
            responses[self.status] = {"model": self.answer}
        if self.by_job:
            responses[202] = {
                "model": JobStanding,
                "description": "A job makes it; `location` is where it will be.",
            }
        kind = route_class(self.method, self.scopes, anybody=self.anybody)
        router.add_api_route(
            f"/api/v1{self.path}",
            open_request(
                as_json(self.view, self.status), self.scopes, anybody=kind is OpenRoute, at_doors=self.at_doors
            ),
            methods=[self.method],
            tags=[self.tag],
            status_code=self.status,
            operation_id=self.name,
            summary=(self.view.__doc__ or "").split("\n")[0],
            responses=responses,
            openapi_extra={"x-scope": " ".join(self.scopes)},
            response_class=Response if self.media_type else JSONResponse,
            route_class_override=kind,
        )


PAGES = [
    # writing comes first: routes are tried in this order, and nothing is asked for more often
    PageRoute("GET", "/write/{key}", write.session_page),
    PageRoute("POST", "/write/{key}/try", write.attempt),
    PageRoute("POST", "/write/{key}/draft", write.save_draft),
    PageRoute("POST", "/write/{key}/confirm", write.confirm),
    PageRoute("POST", "/write/{key}/decide", write.decide),
    PageRoute("POST", "/write/{key}/notes", write.add_notes),
    PageRoute("POST", "/write/{key}/give-up", write.give_up),
    PageRoute("GET", "/write/{key}/moved/{attempt}", writing_aids.moved),
    PageRoute("GET", "/write/{key}/inspiration", writing_aids.inspiration),
    PageRoute("GET", "/", home.home),
    PageRoute("POST", "/fool", home.fool, anybody=True),
    PageRoute("GET", "/search", home.search),
    PageRoute("GET", "/help", help_room.index),
    PageRoute("GET", "/help/images/{name}", help_room.show_picture),
    PageRoute("GET", "/help/{page}", help_room.show),
    PageRoute("GET", "/help/{folder}/{page}", help_room.show_in_folder),
    PageRoute("POST", "/language", home.choose_language, anybody=True),
    PageRoute("POST", "/tour", tour.go, anybody=True),
    PageRoute("GET", "/healthz", health.healthz),
    PageRoute("GET", "/readyz", health.readyz),
    PageRoute("GET", "/api/v1/docs", apidocs.show),
    # signing in and out
    PageRoute("GET", "/login", session.login_page),
    PageRoute("POST", "/login", session.login, anybody=True),
    PageRoute("POST", "/logout", session.logout, anybody=True),
    PageRoute("GET", "/link/{token}", session.link_page),
    PageRoute("POST", "/link/{token}", session.redeem_link, anybody=True),
    PageRoute("GET", "/forgotten", session.forgotten_page),
    PageRoute("POST", "/forgotten", session.forgotten, anybody=True),
    PageRoute("GET", "/register", session.register_page),
    PageRoute("POST", "/register", session.register, anybody=True),
    # one's own account
    PageRoute("GET", "/account", account.show),
    PageRoute("POST", "/account/profile", account.save_profile),
    PageRoute("POST", "/account/password", account.change_password),
    PageRoute("POST", "/account/sessions/end", account.end_session),
    PageRoute("POST", "/account/sessions/others", account.end_other_sessions),
    PageRoute("GET", "/account/tokens", own_tokens.tokens_page),
    PageRoute("POST", "/account/tokens", own_tokens.create_token),
    PageRoute("POST", "/account/tokens/revoke", own_tokens.revoke_token),
    PageRoute("GET", "/account/export", account.export),
    PageRoute("POST", "/account/delete", account.delete),
    PageRoute("GET", "/notifications", notifications.notifications),
    PageRoute("POST", "/notifications/read", notifications.read_notifications),
    # administration
    PageRoute("GET", "/admin", admin.people_page),
    PageRoute("POST", "/admin/invite", admin.invite),
    PageRoute("POST", "/admin/people/{name}/link", admin.make_link),
    PageRoute("POST", "/admin/people/{name}/sign-out", admin.end_access),
    PageRoute("POST", "/admin/people/{name}/grant", admin.grant),
    PageRoute("POST", "/admin/people/{name}/revoke", admin.revoke),
    PageRoute("GET", "/admin/audit", admin.audit_page),
    PageRoute("GET", "/admin/translations", translations.show),
    PageRoute("GET", "/admin/health", house_state.show),
    PageRoute("POST", "/admin/mails/retry", house_state.retry_mails),
    PageRoute("POST", "/admin/mails/give-up", house_state.give_up_mails),
    PageRoute("GET", "/jobs", jobs.index),
    PageRoute("GET", "/jobs/{job}", jobs.show),
    PageRoute("GET", "/jobs/{job}/file", jobs.file),
    PageRoute("POST", "/jobs/{job}/cancel", jobs.cancel),
    # tasks
    PageRoute("GET", "/tasks/new", task_settings.new_page),
    PageRoute("POST", "/tasks/new", task_settings.create),
    PageRoute("GET", "/tasks/new/file", task_from_file.page),
    PageRoute("POST", "/tasks/new/file", task_from_file.make),
    PageRoute("GET", "/tasks/{task}", task_overview.overview),
    PageRoute("POST", "/tasks/{task}/warning", tasks.go_past_warning, anybody=True),
    PageRoute("GET", "/tasks/{task}/settings", task_settings.settings_page),
    PageRoute("POST", "/tasks/{task}/settings", task_settings.save),
    PageRoute("POST", "/tasks/{task}/roles/grant", task_roles.grant),
    PageRoute("POST", "/tasks/{task}/roles/revoke", task_roles.revoke),
    PageRoute("POST", "/tasks/{task}/archive", task_settings.archive),
    PageRoute("POST", "/tasks/{task}/restore", task_settings.restore),
    # data sets
    PageRoute("GET", "/tasks/{task}/data", datasets.index),
    PageRoute("GET", "/tasks/{task}/data/import", imports.import_page),
    PageRoute("POST", "/tasks/{task}/data/import", imports.run_import),
    PageRoute("GET", "/tasks/{task}/data/{dataset}", datasets.show),
    PageRoute("POST", "/tasks/{task}/data/{dataset}/score", datasets.score),
    PageRoute("POST", "/tasks/{task}/data/{dataset}/inputs", datasets.choose_inputs),
    PageRoute("POST", "/tasks/{task}/data/{dataset}/inputs/ask", datasets.ask_inputs),
    PageRoute("POST", "/tasks/{task}/data/{dataset}/inputs/{request}", datasets.decide_inputs),
    PageRoute("GET", "/tasks/{task}/data/{dataset}/download", datasets.fetch),
    PageRoute("GET", "/tasks/{task}/data/{dataset}/diff", datasets.compare),
    # the board
    PageRoute("GET", "/tasks/{task}/board", board.show),
    PageRoute("GET", "/tasks/{task}/board/top", task_overview.top_models),
    PageRoute("GET", "/tasks/{task}/board/claim", board.claim_part),
    PageRoute("GET", "/tasks/{task}/board/settings", board.settings_page),
    PageRoute("POST", "/tasks/{task}/board/settings", board.save_settings),
    PageRoute("POST", "/tasks/{task}/board/remeasure", board.remeasure),
    PageRoute("POST", "/tasks/{task}/board/runs", board.queue_runs),
    PageRoute("POST", "/tasks/{task}/board/forks", board.save_fork),
    PageRoute("POST", "/tasks/{task}/board/forks/remove", board.remove_fork),
    PageRoute("POST", "/tasks/{task}/board/snapshots", board.take_snapshot),
    # models
    PageRoute("GET", "/tasks/{task}/models", models_list.index),
    PageRoute("GET", "/tasks/{task}/submit", submit.submit_page),
    PageRoute("GET", "/tasks/{task}/submit/typed/{way}", submit_typed.page),
    PageRoute("POST", "/tasks/{task}/submit/typed/{way}", submit_typed.send),
    PageRoute("POST", "/tasks/{task}/submit", submit.submit),
    PageRoute("GET", "/tasks/{task}/train", train.index),
    PageRoute("POST", "/tasks/{task}/train", train.start),
    PageRoute("POST", "/tasks/{task}/train/baselines", train.train_baselines),
    PageRoute("GET", "/tasks/{task}/trainings/{number}", train.show),
    PageRoute("POST", "/tasks/{task}/trainings/{number}/cancel", train.cancel),
    PageRoute("GET", "/tasks/{task}/submit/starter", submit.starter),
    PageRoute("GET", "/tasks/{task}/models/{model}", models.show),
    PageRoute("POST", "/tasks/{task}/models/{model}/visibility", models.set_visibility),
    PageRoute("POST", "/tasks/{task}/models/{model}/withdraw", models.withdraw),
    PageRoute("POST", "/tasks/{task}/models/{model}/restore", models.restore),
    PageRoute("POST", "/tasks/{task}/models/{model}/card", models.save_card),
    PageRoute("GET", "/tasks/{task}/models/{model}/overlap", evaluation.overlap),
    PageRoute("GET", "/tasks/{task}/models/{model}/results/{dataset}", evaluation.dataset),
    PageRoute("GET", "/tasks/{task}/models/{model}/results/{dataset}/flips", evaluation.flips),
    PageRoute("GET", "/tasks/{task}/models/{model}/results/{dataset}/answers", answers.listing),
    PageRoute("GET", "/tasks/{task}/models/{model}/results/{dataset}/answers/{example}", answers.single),
    PageRoute("GET", "/tasks/{task}/models/{model}/results/{dataset}/download", evaluation.fetch),
    PageRoute("GET", "/tasks/{task}/compare", compare.show),
    # runs
    PageRoute("GET", "/tasks/{task}/runs", runs.index),
    PageRoute("GET", "/runs/{cell}", runs.show),
    PageRoute("GET", "/runs/{cell}/events", runs.stream),
    PageRoute("POST", "/runs/{cell}/cancel", runs.cancel),
    PageRoute("POST", "/runs/{cell}/retry", runs.retry),
    PageRoute("POST", "/runs/{cell}/measure", runs.measure),
    PageRoute("GET", "/tasks/{task}/talk", talk.talk_page),
    PageRoute("POST", "/tasks/{task}/talk", talk.ask, anybody=True),
    PageRoute("POST", "/demo/part", demo_roles.change_role, anybody=True),
    # reports
    PageRoute("GET", "/tasks/{task}/reports", reports.index),
    PageRoute("GET", "/tasks/{task}/reports/{kind}", reports.show),
    PageRoute("GET", "/tasks/{task}/reports/{kind}/download", reports.fetch),
    PageRoute("GET", "/tasks/{task}/studies/compare", studies.compare),
    PageRoute("GET", "/tasks/{task}/studies/{room}/{name}", studies.show),
    PageRoute("POST", "/tasks/{task}/studies/{room}/{name}", studies.start),
    PageRoute("GET", "/tasks/{task}/studies/{room}/{name}/download", studies.fetch),
    # hand coding
    PageRoute("GET", "/tasks/{task}/codings", codings.index),
    PageRoute("GET", "/tasks/{task}/codings/new", codings.new_page),
    PageRoute("POST", "/tasks/{task}/codings/new", codings.create),
    PageRoute("GET", "/tasks/{task}/codings/{name}", codings.show),
    PageRoute("GET", "/tasks/{task}/codings/{name}/edit", codings.edit_page),
    PageRoute("POST", "/tasks/{task}/codings/{name}/edit", codings.save),
    PageRoute("POST", "/tasks/{task}/codings/{name}/close", codings.close),
    PageRoute("GET", "/tasks/{task}/codings/{name}/codes.csv", codings.export),
    PageRoute("GET", "/tasks/{task}/codings/{name}/code", coding_desk.show),
    PageRoute("POST", "/tasks/{task}/codings/{name}/code/{item}", coding_desk.save),
    # trials
    PageRoute("GET", "/tasks/{task}/trials", trial_owner.index),
    PageRoute("POST", "/tasks/{task}/trials", trial_owner.create),
    PageRoute("GET", "/tasks/{task}/trials/{trial}", trial_part.show),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/enter", trial_part.enter),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/leave", trial_part.leave),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/reply", trial_part.reply),
    PageRoute("GET", "/tasks/{task}/trials/{trial}/tutorial", trial_part.tutorial),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/tutorial", trial_part.answer),
    PageRoute("GET", "/tasks/{task}/trials/{trial}/grade", trial_grade.show),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/grade", trial_grade.grade),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/open", trial_owner.open_trial),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/close", trial_owner.close_trial),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/pool", trial_owner.open_pool),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/models", trial_owner.run_models),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/stage", trial_owner.close_stage),
    PageRoute("GET", "/tasks/{task}/trials/{trial}/letters/{arm}/{stage}", trial_owner.letters),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/letters/{arm}/{stage}", trial_owner.edit_letter),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/answer/{arm}/{stage}", trial_owner.answer_reply),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/readmit/{arm}/{stage}", trial_owner.readmit),
    PageRoute("GET", "/tasks/{task}/trials/{trial}/complete", entry.complete_trial),
    PageRoute("GET", "/tasks/{task}/trials/{trial}/grade/complete", entry.complete_grading),
    PageRoute("POST", "/tasks/{task}/trials/{trial}/doors", trial_owner.set_doors),
    PageRoute("GET", "/tasks/{task}/trials/{trial}/export", trial_owner.export),
    PageRoute("GET", "/tasks/{task}/trials/{trial}/report", trial_owner.report),
    PageRoute("GET", "/tasks/{task}/trials/{trial}/report/download", trial_owner.fetch),
    # contests
    PageRoute("GET", "/tasks/{task}/contests", contests.index),
    PageRoute("GET", "/tasks/{task}/contests/new", contests.new_page),
    PageRoute("POST", "/tasks/{task}/contests/new", contests.create),
    PageRoute("GET", "/tasks/{task}/contests/{name}", contests.show),
    PageRoute("GET", "/tasks/{task}/contests/{name}/edit", contests.edit_page),
    PageRoute("POST", "/tasks/{task}/contests/{name}/edit", contests.save),
    PageRoute("POST", "/tasks/{task}/contests/{name}/teams", contests.create_team),
    PageRoute("GET", "/tasks/{task}/contests/{name}/teams/{team}/join", contests.join_page),
    PageRoute("POST", "/tasks/{task}/contests/{name}/teams/{team}/join", contests.join),
    PageRoute("POST", "/tasks/{task}/contests/{name}/leave", contests.leave),
    PageRoute("GET", "/tasks/{task}/contests/{name}/build", building.build_page),
    PageRoute("POST", "/tasks/{task}/contests/{name}/build/model", building.submit_model),
    PageRoute("POST", "/tasks/{task}/contests/{name}/build/answers", building.hand_in),
    PageRoute("POST", "/tasks/{task}/contests/{name}/build/withdraw", building.withdraw),
    PageRoute("POST", "/tasks/{task}/contests/{name}/build/references", building.add_reference),
    PageRoute("POST", "/tasks/{task}/contests/{name}/build/counts", building.let_count),
    PageRoute("GET", "/tasks/{task}/contests/{name}/answers", building.answers_page),
    PageRoute("GET", "/tasks/{task}/contests/{name}/download/{part}", building.download_part),
    PageRoute("GET", "/tasks/{task}/contests/{name}/break", breaking.break_page),
    PageRoute("POST", "/tasks/{task}/contests/{name}/break", breaking.put_pair),
    PageRoute("POST", "/tasks/{task}/contests/{name}/break/upload", breaking.upload),
    PageRoute("POST", "/tasks/{task}/contests/{name}/break/remove", breaking.remove),
    PageRoute("GET", "/tasks/{task}/contests/{name}/break/search", searching.searches_page),
    PageRoute("POST", "/tasks/{task}/contests/{name}/break/search", searching.start),
    PageRoute("GET", "/tasks/{task}/contests/{name}/break/search/{number}", searching.search_page),
    PageRoute("POST", "/tasks/{task}/contests/{name}/break/search/{number}", searching.advance),
    PageRoute("POST", "/tasks/{task}/contests/{name}/break/search/{number}/decide", searching.decide),
    PageRoute("GET", "/tasks/{task}/contests/{name}/judge", judging.judge_page),
    PageRoute("POST", "/tasks/{task}/contests/{name}/judge", judging.judge),
    PageRoute("POST", "/tasks/{task}/contests/{name}/judge/return", judging.give_back),
    PageRoute("GET", "/tasks/{task}/contests/{name}/decide", deciding.decide_page),
    PageRoute("POST", "/tasks/{task}/contests/{name}/decide/rest", deciding.rule_rest),
    PageRoute("GET", "/tasks/{task}/contests/{name}/disputes", deciding.disputes_page),
    PageRoute("GET", "/tasks/{task}/contests/{name}/results", contest_results.results_page),
    PageRoute("GET", "/tasks/{task}/contests/{name}/pairs", contest_results.pairs_page),
    PageRoute("GET", "/tasks/{task}/contests/{name}/pairs/{pair}", contest_results.pair_page),
    PageRoute("POST", "/tasks/{task}/contests/{name}/pairs/{pair}/contest", contest_results.contest_pair),
    PageRoute("POST", "/tasks/{task}/contests/{name}/pairs/{pair}/rule", contest_results.rule),
    PageRoute("GET", "/tasks/{task}/contests/{name}/export", contest_results.export),
    # rounds, for their owners
    PageRoute("GET", "/tasks/{task}/rounds", rounds.index),
    PageRoute("GET", "/tasks/{task}/rounds/new", rounds.new_page),
    PageRoute("POST", "/tasks/{task}/rounds/new", rounds.create),
    PageRoute("GET", "/tasks/{task}/rounds/harvest", harvests.page),
    PageRoute("POST", "/tasks/{task}/rounds/harvest", harvests.create),
    PageRoute("POST", "/tasks/{task}/harvests", harvests.start),
    PageRoute("GET", "/tasks/{task}/harvests/{job}", harvests.show),
    PageRoute("POST", "/tasks/{task}/harvests/{job}/cancel", harvests.cancel),
    PageRoute("GET", "/tasks/{task}/rounds/{number}", round_page.show),
    PageRoute("GET", "/tasks/{task}/rounds/{number}/file", rounds.download_file),
    PageRoute("GET", "/tasks/{task}/rounds/{number}/edit", rounds.edit_page),
    PageRoute("POST", "/tasks/{task}/rounds/{number}/edit", rounds.save),
    PageRoute("POST", "/tasks/{task}/rounds/{number}/open", round_page.open_round),
    PageRoute("POST", "/tasks/{task}/rounds/{number}/close", round_page.close_round),
    PageRoute("POST", "/tasks/{task}/rounds/{number}/clone", round_page.clone),
    PageRoute("POST", "/tasks/{task}/rounds/{number}/invite", round_page.invite),
    PageRoute("POST", "/tasks/{task}/rounds/{number}/prompts", round_page.import_prompts),
    PageRoute("GET", "/tasks/{task}/rounds/{number}/texts", round_page.texts_page),
    PageRoute("GET", "/tasks/{task}/rounds/{number}/export", round_page.export),
    PageRoute("GET", "/tasks/{task}/rounds/{number}/flags", round_page.flags_page),
    PageRoute("POST", "/tasks/{task}/rounds/{number}/flags", flags.decide_flag),
    PageRoute("GET", "/tasks/{task}/rounds/{number}/pay", round_pay.show),
    PageRoute("POST", "/tasks/{task}/rounds/{number}/pay", round_pay.decide),
    PageRoute("GET", "/tasks/{task}/pay", task_pay.show),
    PageRoute("POST", "/tasks/{task}/pay/policy", task_pay.save_policy),
    PageRoute("GET", "/tasks/{task}/panel", panel_people.show),
    PageRoute("POST", "/tasks/{task}/panel", panel_people.act),
    PageRoute("POST", "/tasks/{task}/pay/bonus", task_pay.grant),
    PageRoute("POST", "/tasks/{task}/pay/answers", task_pay.answer),
    PageRoute("POST", "/tasks/{task}/pay/payouts", task_pay.plan),
    PageRoute("POST", "/tasks/{task}/pay/studies", panel_studies.study),
    PageRoute("POST", "/tasks/{task}/pay/groups", panel_studies.group),
    PageRoute("GET", "/tasks/{task}/pay/payouts/{payout}", task_pay.show_payout),
    PageRoute("POST", "/tasks/{task}/pay/payouts/{payout}", task_pay.act),
    PageRoute("GET", "/tasks/{task}/pay/payouts/{payout}/file", task_pay.fetch),
    # writing, for workers
    PageRoute("GET", "/tasks/{task}/write", write_start.index),
    PageRoute("GET", "/tasks/{task}/rounds/{number}/write", write_start.landing),
    PageRoute("POST", "/tasks/{task}/rounds/{number}/write", write.begin),
    PageRoute("POST", "/tasks/{task}/rounds/{number}/choice", write.choose),
    PageRoute("GET", "/tasks/{task}/rounds/{number}/eligibility", eligibility.show),
    PageRoute("POST", "/tasks/{task}/rounds/{number}/facts", eligibility.state),
    PageRoute("POST", "/tasks/{task}/rounds/{number}/qualification", eligibility.set_qualification),
    PageRoute("GET", "/tasks/{task}/rounds/{number}/practice", writing_aids.practice_page),
    PageRoute("POST", "/tasks/{task}/rounds/{number}/practice", writing_aids.practise),
    PageRoute("GET", "/tasks/{task}/rounds/{number}/complete", entry.complete),
    PageRoute("GET", "/tasks/{task}/outcomes/{name}", outcomes.show),
    # validation, for owners and experts
    PageRoute("GET", "/tasks/{task}/validation", validation.index),
    PageRoute("POST", "/tasks/{task}/validation", validation.open_one),
    PageRoute("GET", "/tasks/{task}/validation/{name}", validation.show),
    PageRoute("POST", "/tasks/{task}/validation/{name}/state", validation.set_state),
    PageRoute("POST", "/tasks/{task}/validation/{name}/policy", validation.save_policy),
    PageRoute("POST", "/tasks/{task}/validation/{name}/adaptive", validation.try_adaptive),
    PageRoute("POST", "/tasks/{task}/validation/{name}/review", validation.review),
    PageRoute("GET", "/tasks/{task}/validation/{name}/live", validation.live),
    PageRoute("GET", "/tasks/{task}/datasheet", datasheet.show),
    PageRoute("POST", "/tasks/{task}/datasheet", datasheet.save),
    PageRoute("GET", "/tasks/{task}/validation/{name}/release", release.show),
    PageRoute("POST", "/tasks/{task}/validation/{name}/release", release.act),
    PageRoute("POST", "/tasks/{task}/validation/{name}/next", timeline.start_next),
    PageRoute("GET", "/tasks/{task}/contrast", contrast_projects.index),
    PageRoute("GET", "/tasks/{task}/contrast/new", contrast_projects.new_page),
    PageRoute("POST", "/tasks/{task}/contrast/new", contrast_projects.create),
    PageRoute("GET", "/tasks/{task}/contrast/import", contrast_published.import_page),
    PageRoute("POST", "/tasks/{task}/contrast/import", contrast_published.run_import),
    PageRoute("GET", "/tasks/{task}/contrast/{name}", contrast_projects.show),
    PageRoute("GET", "/tasks/{task}/contrast/{name}/edit", contrast_projects.edit_page),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/edit", contrast_projects.save),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/state", contrast_projects.set_state),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/release", contrast_projects.release),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/people", contrast_projects.let_judge),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/add", contrast_projects.add_file),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/withdraw/{variant}", contrast_projects.withdraw),
    PageRoute("GET", "/tasks/{task}/contrast/{name}/write", contrast_write.start),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/write", contrast_write.take),
    PageRoute("GET", "/tasks/{task}/contrast/{name}/write/{pivot}", contrast_write.desk),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/write/{pivot}", contrast_write.add),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/write/{pivot}/finish", contrast_write.finish),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/write/{pivot}/withdraw/{variant}", contrast_write.withdraw),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/write/{pivot}/phenomenon", contrast_write.add_phenomenon),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/write/{pivot}/drafts", contrast_write.show_drafts),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/write/{pivot}/search", contrast_write.search),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/write/{pivot}/look", contrast_write.look),
    PageRoute("GET", "/tasks/{task}/contrast/{name}/check", contrast_check.check_page),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/check/{variant}", contrast_check.check),
    PageRoute("GET", "/tasks/{task}/contrast/{name}/contested", contrast_check.contested_page),
    PageRoute("POST", "/tasks/{task}/contrast/{name}/contested/{variant}", contrast_check.settle),
    PageRoute("GET", "/images/{key}", contrast_check.image),
    PageRoute("GET", "/tasks/{task}/models/{model}/contrast/{dataset}", contrast_results.show),
    PageRoute("GET", "/tasks/{task}/timeline", timeline.show),
    PageRoute("POST", "/tasks/{task}/timeline", timeline.save_margin),
    PageRoute("GET", "/tasks/{task}/validation/{name}/release/{number}/{file}", release.fetch),
    PageRoute("GET", "/tasks/{task}/validation/{name}/judges", validation_judges.index),
    PageRoute("GET", "/tasks/{task}/validation/{name}/judges/{worker}", validation_judges.show_judge),
    PageRoute("POST", "/tasks/{task}/validation/{name}/unqualify", validation_judges.end_judges),
    PageRoute("POST", "/tasks/{task}/validation/{name}/requalify", validation_judges.qualify_again),
    PageRoute("GET", "/tasks/{task}/validation/{name}/items", validation_items.show_items),
    PageRoute("POST", "/tasks/{task}/validation/{name}/items", validation_items.add_items),
    PageRoute("GET", "/tasks/{task}/validation/{name}/gold", validation_items.show_gold),
    PageRoute("POST", "/tasks/{task}/validation/{name}/gold", validation_items.add_gold),
    PageRoute("POST", "/tasks/{task}/validation/{name}/gold/from-item", validation_items.gold_from_item),
    PageRoute("POST", "/tasks/{task}/validation/{name}/gold/retire", validation_items.retire_gold),
    PageRoute("POST", "/tasks/{task}/validation/{name}/gold/restore", validation_items.restore_gold),
    PageRoute("POST", "/tasks/{task}/validation/{name}/gold/quiz", validation_items.make_quiz),
    PageRoute("GET", "/tasks/{task}/validation/{name}/export", validation.export),
    PageRoute("GET", "/tasks/{task}/validation/{name}/adjudicate", adjudicate.show),
    PageRoute("POST", "/tasks/{task}/validation/{name}/adjudicate", adjudicate.decide),
    # judging, for workers
    PageRoute("GET", "/tasks/{task}/judge", judge.index),
    PageRoute("GET", "/tasks/{task}/judge/{name}", judge.landing),
    PageRoute("POST", "/tasks/{task}/judge/{name}", judge.begin),
    PageRoute("GET", "/tasks/{task}/judge/{name}/complete", entry.complete_judging),
    PageRoute("GET", "/judge/{token}", judge.show),
    PageRoute("POST", "/judge/{token}", judge.hand_in),
    PageRoute("POST", "/judge/{token}/alive", judge.keep_alive),
    PageRoute("POST", "/judge/{token}/answers/{item}", judge.save),
    PageRoute("GET", "/tasks/{task}/quizzes/new", onboarding.new_quiz_page),
    PageRoute("POST", "/tasks/{task}/quizzes/new", onboarding.create_quiz),
    PageRoute("GET", "/tasks/{task}/quizzes/{quiz}", onboarding.quiz_page),
    PageRoute("POST", "/tasks/{task}/quizzes/{quiz}", onboarding.take_quiz),
    PageRoute("POST", "/tasks/{task}/quizzes/{quiz}/practice", onboarding.practise),
    PageRoute("GET", "/tasks/{task}/quizzes/{quiz}/edit", onboarding.edit_quiz_page),
    PageRoute("POST", "/tasks/{task}/quizzes/{quiz}/edit", onboarding.save_quiz),
    PageRoute("POST", "/tasks/{task}/quizzes/{quiz}/retire", quiz_use.retire_quiz),
    PageRoute("POST", "/tasks/{task}/quizzes/{quiz}/restore", quiz_use.restore_quiz),
    PageRoute("GET", "/tasks/{task}/quizzes/{quiz}/results", onboarding.results_page),
    PageRoute("GET", "/work", own_work.index),
    PageRoute("GET", "/work/export", own_work.export),
    PageRoute("POST", "/work/retract", own_work.retract),
    PageRoute("GET", "/work/earnings", earnings.show),
    PageRoute("GET", "/work/earnings/export", earnings.export),
    PageRoute("POST", "/work/earnings/questions", earnings.ask),
    PageRoute("GET", "/enter/{key}", entry.arrive),
    PageRoute("POST", "/enter/{key}", entry.arrive_anyway, anybody=True),
]

API = [
    Endpoint("GET", "/status", api_status.get_status, "status"),
    Endpoint("POST", "/changes", api_changes.preview_changes, "tasks"),
    Endpoint("GET", "/search", api_search.search, "tasks"),
    Endpoint("GET", "/tasks", api_tasks.list_tasks, "tasks"),
    Endpoint("POST", "/tasks", api_tasks.put_task, "tasks", 201),
    Endpoint("GET", "/tasks/{task}", api_tasks.get_task, "tasks"),
    Endpoint("PUT", "/tasks/{task}", api_tasks.change_task, "tasks"),
    Endpoint("DELETE", "/tasks/{task}", api_tasks.archive_task, "tasks", 204),
    Endpoint("POST", "/tasks/{task}/restore", api_tasks.restore_task, "tasks", 204),
    Endpoint("GET", "/tasks/{task}/history", api_tasks.get_task_history, "tasks"),
    Endpoint("GET", "/tasks/{task}/roles", api_people.list_task_roles, "tasks"),
    Endpoint("GET", "/tasks/{task}/datasets", api_datasets.list_datasets, "datasets"),
    Endpoint(
        "POST",
        "/tasks/{task}/datasets",
        api_datasets.import_dataset,
        "datasets",
        201,
        answer=DatasetVersion,
        by_job=True,
    ),
    Endpoint("GET", "/tasks/{task}/datasets/{dataset}", api_datasets.get_dataset, "datasets"),
    Endpoint("GET", "/tasks/{task}/datasets/{dataset}/preview", api_datasets.preview, "datasets"),
    Endpoint("GET", "/tasks/{task}/datasets/{dataset}/inputs", api_datasets.get_inputs, "datasets"),
    Endpoint("PUT", "/tasks/{task}/datasets/{dataset}/inputs", api_datasets.set_inputs, "datasets"),
    Endpoint("POST", "/tasks/{task}/datasets/{dataset}/inputs/requests", api_datasets.ask_for_inputs, "datasets"),
    Endpoint(
        "POST",
        "/tasks/{task}/datasets/{dataset}/inputs/requests/{request}",
        api_datasets.decide_inputs,
        "datasets",
    ),
    Endpoint("GET", "/tasks/{task}/datasets/{dataset}/labels", api_datasets.get_label_counts, "datasets"),
    Endpoint("GET", "/tasks/{task}/datasets/{dataset}/diff", api_datasets.diff_datasets, "datasets"),
    Endpoint(
        "GET",
        "/tasks/{task}/datasets/{dataset}/download",
        api_datasets.download_dataset,
        "datasets",
        media_type="application/octet-stream",
    ),
    Endpoint("GET", "/tasks/{task}/board", api_board.get_board, "board", answer=Board),
    Endpoint("GET", "/tasks/{task}/board/rank", api_board.get_rank, "board"),
    Endpoint("GET", "/tasks/{task}/board/uncertainty", api_board.get_uncertainty, "board", answer=Uncertainty),
    Endpoint("GET", "/tasks/{task}/board/claim", api_board.get_claim, "board"),
    Endpoint("GET", "/tasks/{task}/board/aggregations", api_board.get_aggregations, "board"),
    Endpoint("GET", "/tasks/{task}/board/sensitivity", api_board.get_sensitivity, "board"),
    Endpoint("GET", "/tasks/{task}/board/models/{model}", api_board.get_board_model, "board"),
    Endpoint(
        "GET",
        "/tasks/{task}/board/export",
        api_board.export_board,
        "board",
        media_type="application/octet-stream",
    ),
    Endpoint("GET", "/tasks/{task}/board/settings", api_board.get_board_settings, "board"),
    Endpoint("PUT", "/tasks/{task}/board/settings", api_board.set_board, "board"),
    Endpoint("POST", "/tasks/{task}/board/remeasure", api_board.remeasure, "board"),
    Endpoint("POST", "/tasks/{task}/board/datasets/{dataset}/runs", api_board.queue_runs, "board"),
    Endpoint("PUT", "/tasks/{task}/board/datasets/{dataset}", api_board.let_score, "board"),
    Endpoint("GET", "/tasks/{task}/board/forks", api_board.list_forks, "board"),
    Endpoint("POST", "/tasks/{task}/board/forks", api_board.save_fork, "board", 201),
    Endpoint("DELETE", "/tasks/{task}/board/forks", api_board.remove_fork, "board", 204),
    Endpoint("GET", "/tasks/{task}/board/snapshots", api_board.list_snapshots, "board"),
    Endpoint("POST", "/tasks/{task}/board/snapshots", api_board.take_snapshot, "board", 201),
    Endpoint(
        "GET",
        "/tasks/{task}/board/snapshots/{snapshot}",
        api_board.download_snapshot,
        "board",
        media_type="application/json",
    ),
    Endpoint("GET", "/keys", api_board.list_signing_keys, "board"),
    Endpoint("GET", "/tasks/{task}/models", api_models.list_models, "models"),
    Endpoint("GET", "/tasks/{task}/models/{model}", api_models.get_model, "models"),
    Endpoint("PUT", "/tasks/{task}/models/{model}/visibility", api_models.change_visibility, "models"),
    Endpoint("PUT", "/tasks/{task}/models/{model}/card", api_models.change_card, "models"),
    Endpoint("POST", "/tasks/{task}/models/{model}/withdraw", api_models.withdraw_model, "models"),
    Endpoint("POST", "/tasks/{task}/models/{model}/restore", api_models.restore_model, "models"),
    Endpoint("POST", "/tasks/{task}/models/{model}/predict", api_models.ask_model, "models", anybody=True),
    Endpoint("POST", "/tasks/{task}/models", api_submissions.submit_model, "models", 201),
    Endpoint("GET", "/tasks/{task}/quota", api_submissions.get_quota, "models"),
    Endpoint("GET", "/loops", api_mail.list_loops, "status"),
    Endpoint("GET", "/mails", api_mail.list_mails, "status"),
    Endpoint("POST", "/mails/retry", api_mail.retry_mails, "status"),
    Endpoint("POST", "/mails/give-up", api_mail.give_up_mails, "status"),
    Endpoint("GET", "/jobs", api_jobs.list_jobs, "status"),
    Endpoint("GET", "/jobs/{job}", api_jobs.get_job, "status"),
    Endpoint("GET", "/jobs/{job}/file", api_jobs.get_job_file, "status", media_type="application/octet-stream"),
    Endpoint("POST", "/jobs/{job}/cancel", api_jobs.cancel_job, "status"),
    Endpoint("GET", "/recipes", api_trainings.list_recipes, "models"),
    Endpoint("GET", "/tasks/{task}/trainings", api_trainings.list_trainings, "models"),
    Endpoint("POST", "/tasks/{task}/trainings", api_trainings.start_training, "models", 201),
    Endpoint("GET", "/tasks/{task}/trainings/{training}", api_trainings.get_training, "models"),
    Endpoint("POST", "/tasks/{task}/trainings/{training}/cancel", api_trainings.cancel_training, "models"),
    Endpoint("POST", "/uploads", api_submissions.begin_upload, "models", 201),
    Endpoint("GET", "/uploads/{upload_id}", api_submissions.get_upload, "models"),
    Endpoint("PUT", "/uploads/{upload_id}", api_submissions.put_part, "models"),
    Endpoint("GET", "/tasks/{task}/models/{model}/results", api_evaluation.get_results, "evaluation"),
    Endpoint("GET", "/tasks/{task}/models/{model}/overlap", api_evaluation.get_overlap, "evaluation"),
    Endpoint("GET", "/tasks/{task}/models/{model}/results/{dataset}/flips", api_evaluation.list_flips, "evaluation"),
    Endpoint(
        "GET", "/tasks/{task}/models/{model}/results/{dataset}/examples", api_evaluation.list_answers, "evaluation"
    ),
    Endpoint(
        "GET",
        "/tasks/{task}/models/{model}/results/{dataset}/examples/{example}",
        api_evaluation.get_answer,
        "evaluation",
    ),
    Endpoint(
        "GET",
        "/tasks/{task}/models/{model}/results/{dataset}/answers",
        api_evaluation.download_answers,
        "evaluation",
        media_type="application/octet-stream",
    ),
    Endpoint("GET", "/tasks/{task}/compare", api_evaluation.compare_models, "evaluation"),
    Endpoint("GET", "/tasks/{task}/compare/examples", api_evaluation.list_differences, "evaluation"),
    Endpoint("GET", "/tasks/{task}/runs", api_evaluation.list_runs, "evaluation"),
    Endpoint("GET", "/runs/{number}", api_evaluation.get_run, "evaluation"),
    Endpoint("POST", "/runs/{number}/cancel", api_evaluation.cancel_run, "evaluation"),
    Endpoint("POST", "/runs/{number}/retry", api_evaluation.retry_run, "evaluation"),
    Endpoint("POST", "/runs/{number}/measure", api_evaluation.measure_run, "evaluation"),
    Endpoint("GET", "/tasks/{task}/rounds", api_rounds.list_rounds, "rounds"),
    Endpoint("POST", "/tasks/{task}/rounds", api_rounds.put_round, "rounds", 201),
    Endpoint("POST", "/tasks/{task}/harvests", api_harvests.add_harvest, "rounds", 201),
    Endpoint("POST", "/tasks/{task}/harvests/jobs", api_harvests.start_harvest, "rounds", 201),
    Endpoint("GET", "/tasks/{task}/rounds/{number}", api_rounds.get_round, "rounds"),
    Endpoint("POST", "/tasks/{task}/rounds/{number}/open", api_rounds.open_round, "rounds"),
    Endpoint("POST", "/tasks/{task}/rounds/{number}/close", api_rounds.close_round, "rounds"),
    Endpoint("POST", "/tasks/{task}/rounds/{number}/clone", api_rounds.clone_round, "rounds", 201),
    Endpoint("GET", "/tasks/{task}/rounds/{number}/history", api_rounds.list_round_history, "rounds"),
    Endpoint("POST", "/tasks/{task}/rounds/{number}/prompts", api_material.import_prompts, "rounds", 201),
    Endpoint("GET", "/tasks/{task}/rounds/{number}/flags", api_material.list_flags, "rounds"),
    Endpoint("POST", "/flags/{flag}/decision", api_retraction.decide_flag, "rounds", 204),
    Endpoint("GET", "/tasks/{task}/rounds/{number}/counters", api_rounds.get_counters, "rounds"),
    Endpoint("GET", "/tasks/{task}/rounds/{number}/stations", api_releases.get_stations, "rounds"),
    Endpoint(
        "GET",
        "/tasks/{task}/rounds/{number}/attempts",
        api_rounds.export_attempts,
        "rounds",
        media_type="application/octet-stream",
        by_job=True,
    ),
    Endpoint("GET", "/tasks/{task}/rounds/{number}/readiness", api_rounds.get_readiness, "writing"),
    Endpoint("POST", "/tasks/{task}/rounds/{number}/choices", api_rounds.choose, "writing"),
    Endpoint("POST", "/tasks/{task}/rounds/{number}/sessions", api_rounds.begin_writing, "writing"),
    Endpoint("GET", "/sessions/{key}", api_rounds.get_writing_session, "writing"),
    Endpoint("POST", "/sessions/{key}/attempts", api_rounds.write, "writing"),
    Endpoint("PUT", "/sessions/{key}/draft", api_rounds.save_draft, "writing"),
    Endpoint("POST", "/sessions/{key}/end", api_rounds.end_writing, "writing"),
    Endpoint("POST", "/attempts/{attempt}/confirm", api_rounds.confirm, "writing"),
    Endpoint("POST", "/attempts/{attempt}/decide", api_rounds.decide, "writing"),
    Endpoint("POST", "/attempts/{attempt}/notes", api_rounds.add_notes, "writing"),
    Endpoint("POST", "/attempts/{attempt}/retract", api_retraction.retract, "writing", 204),
    Endpoint("GET", "/attempts/{attempt}/words", api_writing_aids.get_moving_words, "writing"),
    Endpoint("GET", "/sessions/{key}/inspiration", api_writing_aids.list_inspiration, "writing"),
    Endpoint("GET", "/tasks/{task}/rounds/{number}/practice", api_writing_aids.get_practice, "writing"),
    Endpoint("POST", "/tasks/{task}/rounds/{number}/practice", api_writing_aids.practise, "writing"),
    Endpoint("GET", "/tasks/{task}/quizzes", api_quizzes.list_quizzes, "quizzes"),
    Endpoint("GET", "/tasks/{task}/quizzes/{quiz}", api_quizzes.get_quiz, "quizzes"),
    Endpoint("PUT", "/tasks/{task}/quizzes/{quiz}", api_quizzes.put_quiz, "quizzes"),
    Endpoint("POST", "/tasks/{task}/quizzes/{quiz}/retire", api_quiz_use.retire_quiz, "quizzes"),
    Endpoint("POST", "/tasks/{task}/quizzes/{quiz}/restore", api_quiz_use.restore_quiz, "quizzes"),
    Endpoint("GET", "/tasks/{task}/quizzes/{quiz}/results", api_quizzes.get_quiz_results, "quizzes"),
    Endpoint("POST", "/tasks/{task}/quizzes/{quiz}/tries", api_quizzes.take_quiz, "quizzes"),
    Endpoint("POST", "/tasks/{task}/quizzes/{quiz}/practice", api_quizzes.practise_quiz, "quizzes"),
    Endpoint("GET", "/tasks/{task}/rounds/{number}/eligibility", api_eligible.get_eligibility, "quizzes"),
    Endpoint("GET", "/tasks/{task}/rounds/{number}/people", api_eligible.list_eligible, "quizzes"),
    Endpoint("GET", "/tasks/{task}/qualifications", api_quizzes.list_qualifications, "quizzes"),
    Endpoint("POST", "/tasks/{task}/qualifications", api_quizzes.qualify, "quizzes"),
    Endpoint("GET", "/tasks/{task}/rounds/{number}/pay", api_round_pay.get_round_pay, "pay"),
    Endpoint("POST", "/tasks/{task}/rounds/{number}/pay/approval", api_round_pay.approve_round_pay, "pay"),
    Endpoint("GET", "/tasks/{task}/rounds/{number}/books", api_pay.get_round_books, "pay"),
    Endpoint("GET", "/tasks/{task}/books", api_pay.get_books, "pay"),
    Endpoint("GET", "/tasks/{task}/pay/policy", api_payouts.get_pay_policy, "pay"),
    Endpoint("PUT", "/tasks/{task}/pay/policy", api_payouts.set_pay_policy, "pay"),
    Endpoint("GET", "/tasks/{task}/pay/costs", api_payouts.get_costs, "pay"),
    Endpoint("GET", "/tasks/{task}/pay/owed", api_payouts.list_owed, "pay"),
    Endpoint("POST", "/tasks/{task}/pay/bonuses", api_payouts.grant_bonus, "pay"),
    Endpoint("GET", "/tasks/{task}/pay/questions", api_payouts.list_pay_questions, "pay"),
    Endpoint("POST", "/tasks/{task}/pay/questions/{question}/answer", api_payouts.answer_pay_question, "pay"),
    Endpoint("POST", "/tasks/{task}/rounds/{number}/studies", api_prolific.create_study, "pay", 201),
    Endpoint("POST", "/tasks/{task}/rounds/{number}/studies/{study}", api_prolific.change_study, "pay"),
    Endpoint("POST", "/tasks/{task}/validations/{validation}/studies", api_prolific.create_judging_study, "pay", 201),
    Endpoint("POST", "/tasks/{task}/trials/{trial}/studies", api_prolific.create_trial_study, "pay", 201),
    Endpoint("POST", "/tasks/{task}/trials/{trial}/grading/studies", api_prolific.create_grading_study, "pay", 201),
    Endpoint("POST", "/tasks/{task}/pay/studies/{study}", api_prolific.change_panel_study, "pay"),
    Endpoint("POST", "/tasks/{task}/pay/groups", api_prolific.sync_group, "pay"),
    Endpoint("POST", "/tasks/{task}/pay/prolific", api_prolific.take_prolific_event, "pay", anybody=True),
    Endpoint("GET", "/tasks/{task}/payouts", api_payouts.list_payouts, "pay"),
    Endpoint("POST", "/tasks/{task}/payouts", api_payouts.plan_payouts, "pay", 201),
    Endpoint("GET", "/payouts/{payout}", api_payouts.get_payout, "pay"),
    Endpoint("GET", "/payouts/{payout}/file", api_payouts.get_payout_file, "pay"),
    Endpoint("POST", "/payouts/{payout}/sending", api_payouts.send_payout, "pay"),
    Endpoint("POST", "/payouts/{payout}/cancellation", api_payouts.cancel_payout, "pay"),
    Endpoint("POST", "/payouts/{payout}/outcome", api_payouts.resolve_payout, "pay"),
    Endpoint("POST", "/payouts/{payout}/overpaid", api_payouts.answer_overpaid, "pay"),
    Endpoint("GET", "/tasks/{task}/panel/people", api_panel_people.list_panel_people, "pay"),
    Endpoint("POST", "/tasks/{task}/panel/people", api_panel_people.confirm_panel_people, "pay"),
    Endpoint("POST", "/tasks/{task}/panel/people/{name}/code", api_panel_people.make_door_code, "pay", 201),
    Endpoint("POST", "/tasks/{task}/panel/requests/{request}", api_panel_people.decide_door_request, "pay"),
    Endpoint("GET", "/tasks/{task}/panel/key", api_panel_people.get_panel_key, "pay"),
    Endpoint("GET", "/tasks/{task}/earnings", api_pay.list_earnings, "pay"),
    Endpoint("POST", "/tasks/{task}/earnings/decisions", api_pay.decide_earnings, "pay"),
    Endpoint("GET", "/me/waiting", api_waiting.list_waiting, "me"),
    Endpoint("GET", "/me/facts", api_quizzes.list_my_facts, "me"),
    Endpoint("PUT", "/me/facts", api_quizzes.state_fact, "me"),
    Endpoint("GET", "/me/attempts", api_rounds.list_my_attempts, "me"),
    Endpoint("GET", "/me/earnings", api_pay.list_my_earnings, "me"),
    Endpoint("GET", "/me/pay/questions", api_payouts.list_my_questions, "me"),
    Endpoint("POST", "/me/pay/questions", api_payouts.ask_about_pay, "me", 201),
    Endpoint("GET", "/tasks/{task}/validations", api_validation.list_validations, "validation"),
    Endpoint("POST", "/tasks/{task}/validations/{validation}", api_validation.open_validation, "validation"),
    Endpoint("GET", "/tasks/{task}/validations/{validation}", api_validation.get_validation, "validation"),
    Endpoint("GET", "/tasks/{task}/validations/{validation}/entry", api_console.get_judging_entry, "validation"),
    Endpoint(
        "GET", "/tasks/{task}/validations/{validation}/progress", api_validation.get_validation_progress, "validation"
    ),
    Endpoint("POST", "/tasks/{task}/validations/{validation}/state", api_validation.set_validation_state, "validation"),
    Endpoint(
        "GET", "/tasks/{task}/validations/{validation}/policy", api_console.list_validation_policies, "validation"
    ),
    Endpoint("PUT", "/tasks/{task}/validations/{validation}/policy", api_console.set_validation_policy, "validation"),
    Endpoint("POST", "/tasks/{task}/validations/{validation}/adaptive", api_console.foresee_adaptive, "validation"),
    Endpoint("GET", "/tasks/{task}/validations/{validation}/notes", api_console.list_judging_notes, "validation"),
    Endpoint("GET", "/tasks/{task}/validations/{validation}/trail", api_console.list_validation_trail, "validation"),
    Endpoint("GET", "/tasks/{task}/validations/{validation}/items", api_validation.list_items, "validation"),
    Endpoint("POST", "/tasks/{task}/validations/{validation}/items", api_validation.add_items, "validation", 201),
    Endpoint(
        "GET",
        "/tasks/{task}/validations/{validation}/judgements",
        api_validation.export_judgements,
        "validation",
        media_type="application/octet-stream",
        by_job=True,
    ),
    Endpoint(
        "GET",
        "/tasks/{task}/validations/{validation}/labels",
        api_console.export_labels,
        "validation",
        media_type="application/octet-stream",
        by_job=True,
    ),
    Endpoint("GET", "/tasks/{task}/validations/{validation}/rates", api_validation.get_error_rates, "validation"),
    Endpoint("GET", "/tasks/{task}/validations/{validation}/outcomes", api_validation.list_outcomes, "validation"),
    Endpoint("POST", "/tasks/{task}/validations/{validation}/pages", api_validation.claim_page, "validation"),
    Endpoint("POST", "/tasks/{task}/validations/{validation}/review", api_validation.review_judges, "validation"),
    Endpoint("POST", "/tasks/{task}/validations/{validation}/unqualify", api_validation.unqualify_judges, "validation"),
    Endpoint("POST", "/tasks/{task}/validations/{validation}/rules/try", api_validation.try_rule, "validation"),
    Endpoint("POST", "/tasks/{task}/validations/{validation}/rules/apply", api_validation.apply_rule, "validation"),
    Endpoint("GET", "/tasks/{task}/validations/{validation}/judges", api_console.list_judges, "validation"),
    Endpoint(
        "GET", "/tasks/{task}/validations/{validation}/judges/{name}", api_validation.get_judge_history, "validation"
    ),
    Endpoint(
        "POST",
        "/tasks/{task}/validations/{validation}/judges/{name}/requalify",
        api_validation.requalify,
        "validation",
    ),
    Endpoint("GET", "/tasks/{task}/validations/{validation}/gold", api_validation.list_gold, "validation"),
    Endpoint("POST", "/tasks/{task}/validations/{validation}/gold", api_validation.add_gold, "validation", 201),
    Endpoint(
        "POST", "/tasks/{task}/validations/{validation}/items/{item}/gold", api_validation.make_gold, "validation", 201
    ),
    Endpoint(
        "POST",
        "/tasks/{task}/validations/{validation}/gold/{item}/retire",
        api_validation.retire_gold,
        "validation",
        204,
    ),
    Endpoint(
        "POST",
        "/tasks/{task}/validations/{validation}/gold/{item}/restore",
        api_validation.restore_gold,
        "validation",
        204,
    ),
    Endpoint("POST", "/tasks/{task}/validations/{validation}/quiz", api_validation.make_entry_quiz, "validation", 201),
    Endpoint("GET", "/tasks/{task}/validations/{validation}/contested", api_validation.list_contested, "validation"),
    Endpoint(
        "POST",
        "/tasks/{task}/validations/{validation}/items/{item}/decision",
        api_validation.adjudicate,
        "validation",
        204,
    ),
    Endpoint("GET", "/tasks/{task}/validations/{validation}/releases", api_releases.list_releases, "validation"),
    Endpoint(
        "POST",
        "/tasks/{task}/validations/{validation}/releases",
        api_releases.make_release,
        "validation",
        answer=Release,
        by_job=True,
    ),
    Endpoint(
        "GET",
        "/tasks/{task}/validations/{validation}/releases/asked/{job}",
        api_releases.get_asked_release,
        "validation",
        answer=Release,
        by_job=True,
    ),
    Endpoint(
        "GET",
        "/tasks/{task}/validations/{validation}/releases/{number}/bundle",
        api_releases.release_bundle,
        "validation",
        media_type="application/zip",
        by_job=True,
    ),
    Endpoint(
        "GET",
        "/tasks/{task}/validations/{validation}/releases/{number}/{name}",
        api_releases.release_text,
        "validation",
        media_type="text/markdown",
    ),
    Endpoint(
        "POST",
        "/tasks/{task}/validations/{validation}/releases/preview",
        api_releases.preview_release,
        "validation",
        answer=Release,
        by_job=True,
    ),
    Endpoint("GET", "/tasks/{task}/validations/{validation}/parity", api_wheel.get_parity, "validation"),
    Endpoint("POST", "/tasks/{task}/validations/{validation}/next", api_wheel.start_next, "validation", 201),
    Endpoint("GET", "/tasks/{task}/datasheet", api_datasheet.get_datasheet, "tasks"),
    Endpoint("PUT", "/tasks/{task}/datasheet", api_datasheet.set_datasheet, "tasks"),
    Endpoint("GET", "/tasks/{task}/timeline", api_wheel.get_timeline, "tasks"),
    Endpoint("PUT", "/tasks/{task}/margin", api_wheel.set_margin, "tasks"),
    Endpoint("GET", "/contrast/formats", api_published.list_contrast_formats, "contrast"),
    Endpoint("POST", "/tasks/{task}/contrast/import", api_published.import_contrast, "contrast", 201),
    Endpoint("GET", "/tasks/{task}/contrast", api_contrast.list_contrast_projects, "contrast"),
    Endpoint("PUT", "/tasks/{task}/contrast", api_contrast.put_contrast_project, "contrast"),
    Endpoint("GET", "/tasks/{task}/contrast/{project}", api_contrast.get_contrast_project, "contrast"),
    Endpoint("POST", "/tasks/{task}/contrast/{project}/close", api_contrast.close_contrast_project, "contrast"),
    Endpoint("POST", "/tasks/{task}/contrast/{project}/open", api_contrast.reopen_contrast_project, "contrast"),
    Endpoint("POST", "/tasks/{task}/contrast/{project}/phenomena", api_contrast.add_phenomenon, "contrast"),
    Endpoint("GET", "/tasks/{task}/contrast/{project}/sets", api_contrast.list_contrast_sets, "contrast"),
    Endpoint("POST", "/tasks/{task}/contrast/{project}/pivots", api_contrast.take_pivot, "contrast"),
    Endpoint("GET", "/tasks/{task}/contrast/{project}/pivots/{pivot}", api_contrast.get_pivot, "contrast"),
    Endpoint(
        "POST", "/tasks/{task}/contrast/{project}/pivots/{pivot}/variants", api_contrast.add_variant, "contrast", 201
    ),
    Endpoint(
        "POST", "/tasks/{task}/contrast/{project}/pivots/{pivot}/finish", api_contrast.finish_pivot, "contrast", 204
    ),
    Endpoint(
        "POST", "/tasks/{task}/contrast/{project}/pivots/{pivot}/return", api_contrast.return_pivot, "contrast", 204
    ),
    Endpoint(
        "GET", "/tasks/{task}/contrast/{project}/pivots/{pivot}/drafts", api_contrast.list_contrast_drafts, "contrast"
    ),
    Endpoint(
        "POST",
        "/tasks/{task}/contrast/{project}/pivots/{pivot}/search",
        api_contrast.search_contrast_drafts,
        "contrast",
    ),
    Endpoint("POST", "/tasks/{task}/contrast/{project}/variants", api_contrast.add_variants, "contrast", 201),
    Endpoint(
        "DELETE", "/tasks/{task}/contrast/{project}/variants/{variant}", api_contrast.withdraw_variant, "contrast", 204
    ),
    Endpoint("POST", "/tasks/{task}/contrast/{project}/scout", api_contrast.scout_contrast, "contrast"),
    Endpoint("POST", "/tasks/{task}/contrast/{project}/checks", api_contrast.next_check, "contrast"),
    Endpoint(
        "POST", "/tasks/{task}/contrast/{project}/variants/{variant}/check", api_contrast.check_variant, "contrast"
    ),
    Endpoint("GET", "/tasks/{task}/contrast/{project}/contested", api_contrast.list_contested_variants, "contrast"),
    Endpoint(
        "POST", "/tasks/{task}/contrast/{project}/variants/{variant}/decision", api_contrast.settle_variant, "contrast"
    ),
    Endpoint("POST", "/tasks/{task}/contrast/{project}/release", api_contrast.release_contrast, "contrast"),
    Endpoint("POST", "/tasks/{task}/contrast/{project}/people", api_contrast.open_contrast_people, "contrast"),
    Endpoint("GET", "/tasks/{task}/contrast/{project}/people", api_contrast.get_contrast_people, "contrast"),
    Endpoint("GET", "/tasks/{task}/models/{model}/contrast/{dataset}", api_contrast.get_model_contrast, "contrast"),
    Endpoint(
        "GET", "/tasks/{task}/models/{model}/contrast/{dataset}/sets", api_contrast.get_contrast_boundary, "contrast"
    ),
    Endpoint("GET", "/tasks/{task}/contests", api_contests.list_contests, "contests"),
    Endpoint("POST", "/tasks/{task}/contests", api_contests.put_contest, "contests"),
    Endpoint("GET", "/tasks/{task}/contests/{contest}", api_contests.get_contest, "contests"),
    Endpoint("GET", "/tasks/{task}/contests/{contest}/history", api_contests.list_contest_history, "contests"),
    Endpoint("POST", "/tasks/{task}/contests/{contest}/extend", api_contests.extend_phase, "contests"),
    Endpoint("GET", "/tasks/{task}/contests/{contest}/teams", api_contests.list_contest_teams, "contests"),
    Endpoint("POST", "/tasks/{task}/contests/{contest}/teams", api_contests.create_contest_team, "contests", 201),
    Endpoint("POST", "/tasks/{task}/contests/{contest}/teams/{team}/join", api_contests.join_contest_team, "contests"),
    Endpoint("POST", "/tasks/{task}/contests/{contest}/leave", api_contests.leave_contest_team, "contests", 204),
    Endpoint("GET", "/tasks/{task}/contests/{contest}/teams/{team}/pairs", api_pairs.list_team_pairs, "contests"),
    Endpoint("GET", "/tasks/{task}/contests/{contest}/systems", api_contests.list_contest_systems, "contests"),
    Endpoint("POST", "/tasks/{task}/contests/{contest}/build/model", api_contests.submit_contest_model, "contests"),
    Endpoint("POST", "/tasks/{task}/contests/{contest}/build/answers", api_contests.hand_in_answers, "contests"),
    Endpoint(
        "DELETE",
        "/tasks/{task}/contests/{contest}/build/systems/{system}",
        api_contests.withdraw_contest_system,
        "contests",
        204,
    ),
    Endpoint(
        "POST", "/tasks/{task}/contests/{contest}/references", api_contests.add_contest_reference, "contests", 201
    ),
    Endpoint(
        "PUT",
        "/tasks/{task}/contests/{contest}/references/{system}/counts",
        api_contests.let_reference_count,
        "contests",
        204,
    ),
    Endpoint("GET", "/tasks/{task}/contests/{contest}/answers", api_contests.list_dev_answers, "contests"),
    Endpoint(
        "GET",
        "/tasks/{task}/contests/{contest}/download/{part}",
        api_contests.download_contest_part,
        "contests",
        media_type="application/octet-stream",
    ),
    Endpoint("POST", "/tasks/{task}/contests/{contest}/break/pairs", api_pairs.put_contest_pair, "contests"),
    Endpoint("POST", "/tasks/{task}/contests/{contest}/break/upload", api_pairs.upload_pairs, "contests"),
    Endpoint(
        "DELETE", "/tasks/{task}/contests/{contest}/break/pairs/{pair}", api_pairs.remove_contest_pair, "contests", 204
    ),
    Endpoint("GET", "/tasks/{task}/contests/{contest}/break/searches", api_searches.list_contest_searches, "contests"),
    Endpoint(
        "POST", "/tasks/{task}/contests/{contest}/break/searches", api_searches.start_contest_search, "contests", 201
    ),
    Endpoint(
        "POST",
        "/tasks/{task}/contests/{contest}/break/searches/{search}/advance",
        api_searches.advance_contest_search,
        "contests",
    ),
    Endpoint(
        "GET",
        "/tasks/{task}/contests/{contest}/break/searches/{search}/proposals",
        api_searches.list_contest_proposals,
        "contests",
    ),
    Endpoint(
        "POST",
        "/tasks/{task}/contests/{contest}/break/proposals/{proposal}/confirm",
        api_searches.confirm_contest_proposal,
        "contests",
        201,
    ),
    Endpoint(
        "POST",
        "/tasks/{task}/contests/{contest}/break/proposals/{proposal}/reject",
        api_searches.reject_contest_proposal,
        "contests",
        204,
    ),
    Endpoint("POST", "/tasks/{task}/contests/{contest}/judging/next", api_pairs.next_pair_to_judge, "contests"),
    Endpoint("POST", "/tasks/{task}/contests/{contest}/judging", api_pairs.judge_pair, "contests"),
    Endpoint(
        "POST",
        "/tasks/{task}/contests/{contest}/judging/{pair}/return",
        api_pairs.return_pair_to_judge,
        "contests",
        204,
    ),
    Endpoint("GET", "/tasks/{task}/contests/{contest}/disputes", api_pairs.list_pair_disputes, "contests"),
    Endpoint("POST", "/tasks/{task}/contests/{contest}/rest", api_pairs.rule_rest, "contests"),
    Endpoint("GET", "/tasks/{task}/contests/{contest}/results", api_pairs.get_contest_results, "contests"),
    Endpoint("GET", "/tasks/{task}/contests/{contest}/pairs", api_pairs.list_contest_pairs, "contests"),
    Endpoint("GET", "/tasks/{task}/contests/{contest}/pairs/{pair}", api_pairs.get_contest_pair, "contests"),
    Endpoint("POST", "/tasks/{task}/contests/{contest}/pairs/{pair}/contest", api_pairs.dispute_pair, "contests", 204),
    Endpoint("POST", "/tasks/{task}/contests/{contest}/pairs/{pair}/ruling", api_pairs.rule_pair, "contests", 204),
    Endpoint(
        "GET",
        "/tasks/{task}/contests/{contest}/export",
        api_pairs.export_contest,
        "contests",
        media_type="application/octet-stream",
    ),
    Endpoint("GET", "/tasks/{task}/reports", api_reports.get_report_choices, "study"),
    Endpoint("GET", "/tasks/{task}/reports/{kind}", api_reports.get_report, "study", answer=Report, by_job=True),
    Endpoint(
        "GET",
        "/tasks/{task}/reports/{kind}/download",
        api_reports.download_report,
        "study",
        media_type="application/octet-stream",
        by_job=True,
    ),
    Endpoint("GET", "/tasks/{task}/studies/{room}/{name}", api_studies.get_study, "study"),
    Endpoint("POST", "/tasks/{task}/studies/{room}/{name}", api_studies.start_study, "study"),
    Endpoint(
        "GET",
        "/tasks/{task}/studies/{room}/{name}/download",
        api_studies.download_study,
        "study",
        media_type="application/octet-stream",
    ),
    Endpoint("GET", "/tasks/{task}/codings", api_codings.list_codings, "codings"),
    Endpoint("PUT", "/tasks/{task}/codings", api_codings.put_coding, "codings"),
    Endpoint("GET", "/tasks/{task}/codings/{coding}", api_codings.get_coding, "codings"),
    Endpoint("POST", "/tasks/{task}/codings/{coding}/close", api_codings.close_coding, "codings"),
    Endpoint("POST", "/tasks/{task}/codings/{coding}/items", api_codings.next_to_code, "codings"),
    Endpoint("GET", "/tasks/{task}/codings/{coding}/items/last", api_codings.last_coded, "codings"),
    Endpoint("POST", "/tasks/{task}/codings/{coding}/items/{item}/code", api_codings.code_item, "codings"),
    Endpoint("GET", "/tasks/{task}/codings/{coding}/results", api_codings.get_coding_results, "codings"),
    Endpoint(
        "GET",
        "/tasks/{task}/codings/{coding}/codes",
        api_codings.export_codes,
        "codings",
        media_type="text/csv",
    ),
    Endpoint("GET", "/tasks/{task}/trials", api_trials.list_trials, "trials"),
    Endpoint("GET", "/tasks/{task}/trials/{trial}", api_trials.get_trial, "trials"),
    Endpoint("PUT", "/tasks/{task}/trials/{trial}", api_trials.put_trial, "trials"),
    Endpoint("POST", "/tasks/{task}/trials/{trial}/open", api_trials.open_trial, "trials"),
    Endpoint("POST", "/tasks/{task}/trials/{trial}/close", api_trials.close_trial, "trials"),
    Endpoint("POST", "/tasks/{task}/trials/{trial}/stages/{arm}/{stage}/close", api_trials.close_stage, "trials"),
    Endpoint("POST", "/tasks/{task}/trials/{trial}/stages/{arm}/{stage}/readmit", api_trials.readmit, "trials"),
    Endpoint("GET", "/tasks/{task}/trials/{trial}/letters/{arm}/{stage}", api_trials.list_letters, "trials"),
    Endpoint(
        "PUT",
        "/tasks/{task}/trials/{trial}/letters/{arm}/{stage}/{name}",
        api_trials.edit_letter,
        "trials",
        204,
    ),
    Endpoint(
        "POST",
        "/tasks/{task}/trials/{trial}/replies/{arm}/{stage}/{name}",
        api_trials.answer_reply,
        "trials",
        204,
    ),
    Endpoint("POST", "/tasks/{task}/trials/{trial}/enter", api_trials.enter_trial, "trials"),
    Endpoint("POST", "/tasks/{task}/trials/{trial}/leave", api_trials.leave_trial, "trials"),
    Endpoint("GET", "/tasks/{task}/trials/{trial}/part", api_trials.get_trial_part, "trials"),
    Endpoint("GET", "/tasks/{task}/trials/{trial}/quiz", api_trials.get_quiz_step, "trials"),
    Endpoint("POST", "/tasks/{task}/trials/{trial}/quiz", api_trials.answer_quiz_step, "trials"),
    Endpoint("POST", "/tasks/{task}/trials/{trial}/part/letters/{stage}", api_trials.reply_to_letter, "trials", 204),
    Endpoint("GET", "/tasks/{task}/trials/{trial}/grading", api_trials.get_grading_task, "trials"),
    Endpoint("POST", "/tasks/{task}/trials/{trial}/grading", api_trials.grade_item, "trials"),
    Endpoint("GET", "/tasks/{task}/trials/{trial}/grading/before", api_trials.get_grade, "trials"),
    Endpoint("PUT", "/tasks/{task}/trials/{trial}/grading", api_trials.change_grade, "trials"),
    Endpoint("GET", "/tasks/{task}/trials/{trial}/costs", api_trials.get_trial_costs, "trials"),
    Endpoint("GET", "/tasks/{task}/trials/{trial}/doors", api_trials.get_trial_doors, "trials"),
    Endpoint("PUT", "/tasks/{task}/trials/{trial}/doors", api_trials.put_trial_doors, "trials"),
    Endpoint("POST", "/tasks/{task}/trials/{trial}/pool", api_trials.open_trial_pool, "trials"),
    Endpoint("GET", "/tasks/{task}/trials/{trial}/models", api_trials.get_trial_models, "trials"),
    Endpoint("POST", "/tasks/{task}/trials/{trial}/models", api_trials.run_trial_models, "trials"),
    Endpoint(
        "GET",
        "/tasks/{task}/trials/{trial}/export",
        api_trials.export_trial,
        "trials",
        media_type="application/json",
    ),
    Endpoint("GET", "/tasks/{task}/trials/{trial}/report", api_trials.get_trial_report, "trials"),
    Endpoint(
        "GET",
        "/tasks/{task}/trials/{trial}/report/download",
        api_trials.download_trial_report,
        "trials",
        media_type="application/octet-stream",
    ),
    Endpoint("GET", "/pages/{token}", api_validation.get_judging_page, "validation"),
    Endpoint("POST", "/pages/{token}", api_validation.submit_page, "validation"),
    Endpoint("PUT", "/pages/{token}/answers/{item}", api_validation.save_answer, "validation"),
    Endpoint("POST", "/pages/{token}/extend", api_validation.extend_page, "validation"),
    Endpoint("POST", "/pages/{token}/return", api_validation.return_page, "validation", 204),
    Endpoint("GET", "/me", api_people.get_me, "me"),
    Endpoint("PATCH", "/me", api_people.change_me, "me"),
    Endpoint("POST", "/me/deletion", api_personal_data.delete_me, "me", 204),
    Endpoint("GET", "/me/pay/open", api_pay.get_open_pay, "me"),
    Endpoint("POST", "/me/pay/open/wish", api_pay.ask_for_last_pay, "me", 204),
    Endpoint("GET", "/me/export", api_personal_data.export_me, "me", media_type="application/zip"),
    Endpoint("GET", "/me/tokens", api_people.list_tokens, "me"),
    Endpoint("POST", "/me/tokens", api_people.create_token, "me", 201),
    Endpoint("DELETE", "/me/tokens/{token_id}", api_people.revoke_token, "me", 204),
    Endpoint("GET", "/me/notifications", api_people.list_notifications, "me"),
    Endpoint("POST", "/me/notifications/read", api_people.read_notifications, "me"),
    Endpoint("GET", "/users", api_people.list_users, "users"),
    Endpoint("POST", "/users", api_people.invite_user, "users", 201),
    Endpoint("GET", "/users/{name}", api_people.get_user, "users"),
    Endpoint("POST", "/users/{name}/deletion", api_personal_data.delete_user, "users", 204),
    Endpoint("POST", "/users/{name}/link", api_people.make_link, "users", 201),
    Endpoint("POST", "/users/{name}/sign-out", api_people.end_access, "users"),
    Endpoint("POST", "/users/{name}/grants", api_people.grant_role, "users"),
    Endpoint("DELETE", "/users/{name}/grants/{role}", api_people.revoke_role, "users"),
    Endpoint("GET", "/audit", api_people.list_audit, "users"),
]
