"""Computes ten text metrics with the reference libraries, for the benchmark `text.rs`.

Arguments: the input file with the texts, and the output file for the scores; both have a JSON value per line. Prints the CPU time
in seconds, without start-up and imports.
"""

import collections
import json
import re
import string
import sys
import time

import jiwer
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF


def normal_words(text):
    """The normalized words that SQuAD 1.1 compares."""
    text = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def token_f1(output, reference):
    output, reference = normal_words(output), normal_words(reference)
    common = sum((collections.Counter(output) & collections.Counter(reference)).values())
    return 2 * common / (len(output) + len(reference)) if common else 0.0


def main():
    texts, scores = sys.argv[1:]
    with open(texts, encoding="utf-8") as file:
        items = [json.loads(line) for line in file]
    began = time.process_time()
    rouge = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    bleu, chrf, chrf_plus_plus = BLEU(effective_order=True), CHRF(), CHRF(word_order=2)
    with open(scores, "w", encoding="utf-8") as file:
        for item in items:
            output, reference = item["output"], item["reference"]
            overlaps = rouge.score(reference, output)
            found = [
                *(overlaps[variant].fmeasure for variant in ("rouge1", "rouge2", "rougeL")),
                bleu.sentence_score(output, [reference]).score / 100,
                chrf.sentence_score(output, [reference]).score / 100,
                chrf_plus_plus.sentence_score(output, [reference]).score / 100,
                max(0.0, 1 - jiwer.wer(reference, output)),
                token_f1(output, reference),
                float(normal_words(output) == normal_words(reference)),
                float(item["word"] in output),
            ]
            file.write(json.dumps(found) + "\n")
    print(time.process_time() - began)


main()
