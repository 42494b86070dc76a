#!/usr/bin/env python3
"""A bridge to Python: reads an output with its item as a line of JSON, and writes a score as a line of JSON.

Usage: bridge.py ratio      the similarity of the output and the item's `expectedOutput` (difflib)
       bridge.py deepeval   an LLM judge of the package deepeval, with the criterion in the variable CRITERION

A metric from the table METRICS is created once and then called for each output.
"""

import json
import os
import sys


def ratio():
    """Twice the number of matching letters divided by the number of all letters: 1 for equal texts. Needs no package."""
    from difflib import SequenceMatcher

    def measure(request):
        expected, output = request["item"]["expectedOutput"], str(request["output"])
        matcher = SequenceMatcher(None, expected, output, autojunk=False)
        changes = [
            f"{expected[a:b]!r} became {output[c:d]!r}"
            for change, a, b, c, d in matcher.get_opcodes()
            if change != "equal"
        ]
        answer = {"score": matcher.ratio(), "metadata": {"changes": len(changes)}}
        if changes:
            answer["reason"] = "; ".join(changes[:5])
        return answer

    return measure


def deepeval():
    """GEval of deepeval: an LLM judge with a criterion. Needs the package, and OPENAI_API_KEY."""
    # Before the import: disable telemetry, files and `.env`.
    os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
    os.environ["DEEPEVAL_FILE_SYSTEM"] = "READ_ONLY"
    os.environ["DEEPEVAL_DISABLE_DOTENV"] = "1"
    from deepeval.metrics import GEval
    from deepeval.test_case import LLMTestCase, SingleTurnParams

    metric = GEval(
        name="criterion",
        # With explicit steps, no request is needed to generate them.
        evaluation_steps=[os.environ.get("CRITERION", "The actual output means the same as the expected output.")],
        evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.EXPECTED_OUTPUT],
        model=os.environ.get("DEEPEVAL_MODEL", "gpt-4.1-mini"),
        async_mode=False,
    )

    def measure(request):
        item = request["item"]
        case = LLMTestCase(
            input=item["input"],
            actual_output=str(request["output"]),
            expected_output=item["expectedOutput"],
        )
        score = metric.measure(case, _show_indicator=False)
        return {"score": score, "reason": metric.reason}

    return measure


METRICS = {"ratio": ratio, "deepeval": deepeval}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in METRICS:
        sys.exit(__doc__)
    # Only responses go to stdout; output of packages goes to stderr.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    measure = METRICS[sys.argv[1]]()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = measure(request)
        except Exception as error:
            # A failure affects only this output; continue with the next one.
            answer = {"error": f"{type(error).__name__}: {error}"}
        # The request's id, so that responses cannot be mixed up.
        answer["id"] = request["id"]
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
