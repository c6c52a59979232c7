#!/usr/bin/env bash
# The whole story in order: train a translator, score it, translate, and look at its attention.
#
#     make demo            sets everything up and runs this
#     examples/demo.sh     the same, where transduce is installed
#
# The corpus is the phrasebook: English-German sentences that the project makes itself. Its test set holds combinations
# of words and sentence patterns that training never shows. For your own text, see the README.
set -euo pipefail

run=${1:-demo}
transduce=${TRANSDUCE:-transduce}

first="The camera that Martin bought on Wednesday is blue."  # these three stand in the test set: never trained on

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "1. Train the Transformer of 2017 on the phrasebook (prepares the data first)"
"$transduce" train phrasebook --out "$run" --resume

say "2. Score it on sentences that it has never seen"
"$transduce" evaluate "$run"

say "3. Translate three sentences"
sentences="$first
Before Paul goes to bed, he reads a novel.
Maria, is that your bag?"
paste -d '\n' <(echo "$sentences") <("$transduce" translate "$run" <<<"$sentences" | sed 's/^/    /')

say "4. Look at what it looks at"
printf "translation: "
"$transduce" inspect "$run" "$first" --attention "$run/attention.png"

say "Now yours"
cat <<END
Translate a sentence of your own. It has learned about 1,000 words of everyday life and knows no others: people and
families, food, shops, travel, work, weather, the day and the hour. Try:
    echo "My sister would like a cup of coffee." | $transduce translate $run
    echo "Why did you close the window?" | $transduce translate $run
    echo "It will rain in Berlin tomorrow." | $transduce translate $run
Look at the attention:
    $run/attention.png
Train on your own two text files:
    $transduce prepare small --train-src my.en --train-tgt my.de --out data/mine
    $transduce train small --data data/mine --out runs/mine
END
