// Follows a run while it goes on: moves the meter, and fetches the page anew when something happened.

import { percent } from "./numbers.js";

async function renew() {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("run");
  if (!fresh) return null;
  document.getElementById("run").replaceWith(fresh);
  return fresh;
}

function follow(run) {
  const source = new EventSource(run.dataset.events);
  let seen = `${run.dataset.state} ${run.dataset.count}`;
  source.onmessage = async (message) => {
    const news = JSON.parse(message.data);
    const meter = document.getElementById("run-meter");
    meter.max = news.total || 1;
    meter.value = news.done;
    document.getElementById("run-share").textContent = percent(news.total ? news.done / news.total : 0, 1);
    const now = `${news.state} ${news.events}`;
    if (now !== seen || news.state === "queued" || news.state === "running") {
      seen = now;
      const fresh = await renew();
      if (!fresh?.dataset.events) source.close();
    }
  };
}

const run = document.querySelector("#run[data-events]");
if (run) follow(run);
