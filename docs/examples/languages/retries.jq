# For each status of a response to a refund: no refund was made ("none"), the status says nothing ("unknown"), or repeat the call ("again").
.components.responses as $shared
| .paths["/v1/refunds"].post.responses
| map_values($shared[(.["$ref"] // "") | split("/") | last // ""]["x-retry"])
| map_values(if .repeat == "changed" then "none" elif .when == "cause-gone" then "unknown" else "again" end)
