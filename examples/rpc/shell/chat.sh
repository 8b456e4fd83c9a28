#!/bin/sh
# Talks with zot: each argument is one prompt of the same conversation. It needs jq.
set -eu

for text in "$@"; do
	jq -nc --arg text "$text" '{type: "prompt", message: $text}'
done | "${ZOT:-zot}" rpc | jq --unbuffered -j '
	if   .type == "text_delta" then .delta
	elif .type == "tool_call"  then "[\(.name) \(.args)]\n"
	elif .type == "error"      then "error: \(.message)"
	elif .type == "done"       then "\n"
	elif .success == false     then "refused: \(.error)\n"
	else empty end'
