"""Calls about what people earned with tasks and in rounds (`task/number`).

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from quintain.client.refs import ref_path, task_path
from quintain.client.transport import Transport
from quintain.core.records.panels import DoorCode, PanelGuests, PanelKey
from quintain.core.records.pay import (
    Books,
    CostReport,
    Earning,
    Earnings,
    Owed,
    OwedList,
    PanelGroup,
    PayoutFile,
    PayoutRecord,
    Payouts,
    PayPolicyText,
    PayQuestions,
    RoundPay,
    Study,
)


class PayCalls:
    """What `Client` can ask about pay."""

    _transport: Transport

    def round_pay(
        self, ref: str, *, status: str | None = None, order: str = "newest", limit: int = 1000, offset: int = 0
    ) -> RoundPay:
        """Return what a round pays and has cost, and who earned what: all, or what is `pending` (owners)."""
        return self._transport.read(
            RoundPay,
            "GET",
            f"{ref_path(ref, 'rounds')}/pay",
            params={"status": status, "order": order, "limit": limit, "offset": offset},
        )

    def approve_round_pay(self, ref: str) -> RoundPay:
        """Approve everything that is pending in a round (owners)."""
        return self._transport.read(RoundPay, "POST", f"{ref_path(ref, 'rounds')}/pay/approval")

    def round_books(self, ref: str, *, limit: int = 50, offset: int = 0) -> Books:
        """Show the accounts of a round and what was booked to them, the newest first (owners)."""
        return self._transport.read(
            Books, "GET", f"{ref_path(ref, 'rounds')}/books", params={"limit": limit, "offset": offset}
        )

    def books(self, task: str, *, limit: int = 50, offset: int = 0) -> Books:
        """Show what was booked to the budget of a task, the newest first (owners)."""
        return self._transport.read(Books, "GET", f"{task_path(task)}/books", params={"limit": limit, "offset": offset})

    def pay_policy(self, task: str) -> PayPolicyText:
        """Return what the owner of a task promises and allows, as TOML (owners)."""
        return self._transport.read(PayPolicyText, "GET", f"{task_path(task)}/pay/policy")

    def set_pay_policy(self, task: str, toml: str, *, revision: str = "", remove: Iterable[str] = ()) -> PayPolicyText:
        """Let another pay policy hold from now on (owners)."""
        return self._transport.read(
            PayPolicyText,
            "PUT",
            f"{task_path(task)}/pay/policy",
            params={"revision": revision, "remove": list(remove)},
            json={"toml": toml},
        )

    def costs(self, task: str, *, currency: str = "") -> CostReport:
        """Return what a text has cost in each round of a task, with training and without it (owners)."""
        return self._transport.read(CostReport, "GET", f"{task_path(task)}/pay/costs", params={"currency": currency})

    def owed(self, task: str) -> list[Owed]:
        """List what is approved and in no payout yet, by provider and currency (owners)."""
        return self._transport.read(OwedList, "GET", f"{task_path(task)}/pay/owed").owed

    def grant_bonus(self, task: str, worker: str, amount: int, currency: str, what: str, key: str) -> list[Owed]:
        """Grant a worker a bonus, once for each key; it is pending until it is approved (owners)."""
        return self._transport.read(
            OwedList,
            "POST",
            f"{task_path(task)}/pay/bonuses",
            json={"worker": worker, "amount": amount, "currency": currency, "what": what, "key": key},
        ).owed

    def pay_questions(self, task: str, *, limit: int = 25, offset: int = 0) -> PayQuestions:
        """List what workers asked about their pay, those without an answer first (owners)."""
        return self._transport.read(
            PayQuestions, "GET", f"{task_path(task)}/pay/questions", params={"limit": limit, "offset": offset}
        )

    def answer_pay_question(self, task: str, question: int, text: str) -> PayQuestions:
        """Answer a question about pay; the worker is told (owners)."""
        return self._transport.read(
            PayQuestions, "POST", f"{task_path(task)}/pay/questions/{question}/answer", json={"text": text}
        )

    def create_study(self, ref: str, places: int, group: str = "", *, reward: int | None = None) -> Study:
        """Make a draft of a study on Prolific that sends people to a round (owners)."""
        return self._transport.read(
            Study,
            "POST",
            f"{ref_path(ref, 'rounds')}/studies",
            json={"places": places, "group": group, "reward": reward},
        )

    def change_study(self, ref: str, study: str, action: str = "", *, places: int = 0) -> Study:
        """Publish, pause, start or stop a study, or let more people take part (owners)."""
        return self._transport.read(
            Study,
            "POST",
            f"{ref_path(ref, 'rounds')}/studies/{quote(study, safe='')}",
            json={"action": action, "places": places},
        )

    def create_judging_study(self, ref: str, places: int, group: str = "", *, reward: int | None = None) -> Study:
        """Make a draft of a study on Prolific that sends people to a judging (owners)."""
        return self._transport.read(
            Study,
            "POST",
            f"{ref_path(ref, 'validations')}/studies",
            json={"places": places, "group": group, "reward": reward},
        )

    def create_trial_study(self, ref: str, places: int, group: str = "", *, reward: int | None = None) -> Study:
        """Make a draft of a study on Prolific that sends people to a trial, to take part (owners)."""
        return self._transport.read(
            Study,
            "POST",
            f"{ref_path(ref, 'trials')}/studies",
            json={"places": places, "group": group, "reward": reward},
        )

    def create_grading_study(self, ref: str, places: int, group: str = "", *, reward: int | None = None) -> Study:
        """Make a draft of a study on Prolific that sends people to a trial, to grade (owners)."""
        return self._transport.read(
            Study,
            "POST",
            f"{ref_path(ref, 'trials')}/grading/studies",
            json={"places": places, "group": group, "reward": reward},
        )

    def change_panel_study(self, task: str, study: str, action: str = "", *, places: int = 0) -> Study:
        """Publish, pause, start or stop a study, wherever it leads, or let more people take part (owners)."""
        return self._transport.read(
            Study,
            "POST",
            f"{task_path(task)}/pay/studies/{quote(study, safe='')}",
            json={"action": action, "places": places},
        )

    def sync_group(self, task: str, qualification: str, group: str = "") -> PanelGroup:
        """Let a participant group hold exactly who holds a qualification (owners)."""
        return self._transport.read(
            PanelGroup, "POST", f"{task_path(task)}/pay/groups", json={"qualification": qualification, "group": group}
        )

    def payouts(self, task: str, *, limit: int = 25, offset: int = 0) -> Payouts:
        """List payouts of a task, the newest first (owners)."""
        return self._transport.read(
            Payouts, "GET", f"{task_path(task)}/payouts", params={"limit": limit, "offset": offset}
        )

    def plan_payouts(self, task: str, provider: str, currency: str, *, approvals: bool = False) -> Payouts:
        """Plan payouts of everything that is approved for the people of a provider, in one currency (owners)."""
        return self._transport.read(
            Payouts,
            "POST",
            f"{task_path(task)}/payouts",
            json={"provider": provider, "currency": currency, "approvals": approvals},
        )

    def payout(self, payout: int) -> PayoutRecord:
        """Show a payout with its people and the calls that were made for it (owners)."""
        return self._transport.read(PayoutRecord, "GET", f"/payouts/{payout}")

    def payout_file(self, payout: int) -> str:
        """Return a payout as CSV by the panel's own ids (owners)."""
        return self._transport.read(PayoutFile, "GET", f"/payouts/{payout}/file").csv

    def send_payout(self, payout: int) -> PayoutRecord:
        """Send a payout through its panel, or go on where it was left; nobody is paid twice (owners)."""
        return self._transport.read(PayoutRecord, "POST", f"/payouts/{payout}/sending")

    def cancel_payout(self, payout: int) -> PayoutRecord:
        """Cancel a payout that was not sent (owners)."""
        return self._transport.read(PayoutRecord, "POST", f"/payouts/{payout}/cancellation")

    def resolve_payout(self, payout: int, paid: bool, note: str = "") -> PayoutRecord:
        """Set down whether a payout by hand, or one whose answer did not come, was made (owners)."""
        return self._transport.read(
            PayoutRecord, "POST", f"/payouts/{payout}/outcome", json={"paid": paid, "note": note}
        )

    def answer_overpaid(self, payout: int, hold_back: bool) -> PayoutRecord:
        """Hold what was paid twice back from the person's later pay, or let it go (owners)."""
        return self._transport.read(PayoutRecord, "POST", f"/payouts/{payout}/overpaid", json={"hold_back": hold_back})

    def panel_people(self, task: str, *, held: bool = False, limit: int = 100, offset: int = 0) -> PanelGuests:
        """List people whom panels sent to a task, or whose pay is *held*, and who wants to come in (owners)."""
        return self._transport.read(
            PanelGuests,
            "GET",
            f"{task_path(task)}/panel/people",
            params={"held": held, "limit": limit, "offset": offset},
        )

    def confirm_panel_people(self, task: str, names: Iterable[str] = (), *, everybody: bool = False) -> PanelGuests:
        """Take these for people of their own, who are paid; or all of whom nothing looks odd (owners)."""
        return self._transport.read(
            PanelGuests, "POST", f"{task_path(task)}/panel/people", json={"names": list(names), "everybody": everybody}
        )

    def make_door_code(self, task: str, name: str) -> DoorCode:
        """Make a code with which somebody comes in by another browser; it is shown this once (owners)."""
        return self._transport.read(DoorCode, "POST", f"{task_path(task)}/panel/people/{quote(name, safe='')}/code")

    def decide_door_request(self, task: str, request: int, let_in: bool) -> PanelGuests:
        """Let somebody in by another browser, or refuse (owners)."""
        return self._transport.read(
            PanelGuests, "POST", f"{task_path(task)}/panel/requests/{request}", json={"let_in": let_in}
        )

    def panel_key(self, task: str) -> PanelKey:
        """Return the key by which a panel signs its links to a task (owners)."""
        return self._transport.read(PanelKey, "GET", f"{task_path(task)}/panel/key")

    def earnings(
        self, task: str, *, status: str | None = None, order: str = "newest", limit: int = 1000, offset: int = 0
    ) -> list[Earning]:
        """List what people earned with a task, the newest first (owners)."""
        return self._transport.read(
            Earnings,
            "GET",
            f"{task_path(task)}/earnings",
            params={"status": status, "order": order, "limit": limit, "offset": offset},
        ).earnings

    def decide_earnings(
        self, task: str, ids: Iterable[int], *, approved: bool = True, reason: str = ""
    ) -> list[Earning]:
        """Approve earnings, or set them aside with a reason that the worker reads (owners)."""
        return self._transport.read(
            Earnings,
            "POST",
            f"{task_path(task)}/earnings/decisions",
            json={"ids": list(ids), "approved": approved, "reason": reason},
        ).earnings
