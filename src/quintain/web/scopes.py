"""Which scope each address takes: what a token, or a session that a panel's link began, must be good for to go there.

Looking takes `read`, but for what is about other people or takes an account out. An operation of the API that changes
something stands here by its name, so that none is forgotten; one that stands nowhere takes a credential that is good
for everything. Roles are asked besides, by the services.
"""

from __future__ import annotations

import re

from quintain.core.people import Scope

# Where panels' links lead: a session that began at one may do this, as on the pages that are open to it (`WORKING`).
_AT_DOORS = """
    choose begin_writing write save_draft end_writing confirm decide add_notes retract practise
    take_quiz practise_quiz state_fact ask_about_pay claim_page submit_page save_answer extend_page return_page
    enter_trial leave_trial answer_quiz_step reply_to_letter grade_item change_grade read_notifications
"""
_WORK = """
    ask_for_last_pay adjudicate
    take_pivot add_variant finish_pivot return_pivot search_contrast_drafts add_variants withdraw_variant
    next_check check_variant settle_variant add_phenomenon scout_contrast next_to_code code_item
    create_contest_team join_contest_team leave_contest_team put_contest_pair upload_pairs remove_contest_pair
    start_contest_search advance_contest_search confirm_contest_proposal reject_contest_proposal
    judge_pair next_pair_to_judge return_pair_to_judge dispute_pair save_fork remove_fork cancel_job
"""
_BUILD = """
    submit_model change_visibility change_card withdraw_model restore_model
    start_training cancel_training ask_for_inputs begin_upload put_part
    cancel_run retry_run measure_run submit_contest_model hand_in_answers withdraw_contest_system
"""
_OWN = """
    put_task change_task archive_task restore_task import_dataset set_board remeasure queue_runs let_score take_snapshot
    set_inputs decide_inputs
    put_round add_harvest start_harvest open_round close_round clone_round import_prompts decide_flag
    put_quiz retire_quiz restore_quiz qualify
    approve_round_pay set_pay_policy grant_bonus answer_pay_question create_study change_study create_judging_study
    create_trial_study create_grading_study change_panel_study sync_group plan_payouts send_payout cancel_payout
    resolve_payout answer_overpaid preview_changes decide_earnings list_payouts get_payout get_payout_file
    list_panel_people confirm_panel_people make_door_code decide_door_request get_panel_key
    open_validation set_validation_state set_validation_policy foresee_adaptive add_items review_judges
    unqualify_judges try_rule apply_rule requalify add_gold make_gold retire_gold restore_gold make_entry_quiz
    make_release preview_release set_datasheet start_next set_margin
    import_contrast put_contrast_project close_contrast_project reopen_contrast_project release_contrast
    open_contrast_people put_contest extend_phase add_contest_reference let_reference_count rule_pair rule_rest
    start_study put_coding close_coding put_trial open_trial close_trial close_stage readmit edit_letter answer_reply
    put_trial_doors open_trial_pool run_trial_models grant_role revoke_role
"""
_ADMIN = """
    list_users get_user invite_user make_link end_access delete_user list_audit list_mails retry_mails give_up_mails
    list_loops
"""
_ACCOUNT = "change_me export_me delete_me list_tokens create_token revoke_token"
# What changes nothing that is kept, or proves by itself who sends it.
_READ = "ask_model take_prolific_event"

OPERATIONS = {
    name: scope
    for scope, names in (
        (Scope.READ, _READ),
        (Scope.WORK, _AT_DOORS),
        (Scope.WORK, _WORK),
        (Scope.BUILD, _BUILD),
        (Scope.OWN, _OWN),
        (Scope.ADMIN, _ADMIN),
        (Scope.ACCOUNT, _ACCOUNT),
    )
    for name in names.split()
}

AT_DOORS = frozenset(_AT_DOORS.split())

# Forms that somebody sends whom a panel's link brought in to work, and those that need no account.
WORKING = re.compile(
    r"/(write|judge)/.*|/tasks/\{task\}/judge/\{name\}|/tasks/\{task\}/rounds/\{number\}/(write|choice|facts|practice)"
    r"|/tasks/\{task\}/quizzes/\{quiz\}(/practice)?|/tasks/\{task\}/trials/\{trial\}/(enter|leave|reply|tutorial|grade)"
    r"|/work/(retract|earnings/questions)|/notifications/read"
)
OPEN = re.compile(
    r"/(fool|language|tour|login|logout|link/.*|forgotten|register|demo/part|enter/.*)|/tasks/\{task\}/(talk|warning)"
)
# Pages that hand out work of other kinds, or prepare it: what is shown there is taken, and could not be sent.
OTHER_WORK = re.compile(
    r"/tasks/\{task\}/(contrast/\{name\}/(write(/.*)?|check|contested)|codings/\{name\}/code"
    r"|contests/\{name\}/(build|answers|break(/.*)?|judge|decide|teams/.*))"
)
TAKES_OUT = frozenset({"/account/export", "/account/tokens", "/work/export", "/work/earnings/export"})


def scope_of_operation(method: str, name: str) -> Scope | None:
    """Return the scope that an operation of the API takes, by the name of its function; None: all of them."""
    return OPERATIONS.get(name, Scope.READ if method == "GET" else None)


def scope_of_page(method: str, path: str) -> Scope:
    """Return the scope that a page takes: forms beyond work take a session of somebody who has shown who they are."""
    if method == "GET":
        return Scope.ACCOUNT if path in TAKES_OUT or OTHER_WORK.fullmatch(path) else Scope.READ
    if OPEN.fullmatch(path):
        return Scope.READ
    return Scope.WORK if WORKING.fullmatch(path) else Scope.ACCOUNT
