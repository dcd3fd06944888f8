// Keeps a page that is served up to date: asks for news, shows the newest trials at once, and draws the whole document
// again where there is a newer one, as often as that costs little.
"use strict";
(() => {
  const { url, seconds: pause, version: first } = comitia.settings();
  const { element, table, number, seconds } = comitia.tools;
  const STATES = {
    waiting: "Waiting for the study to begin",
    running: "Running",
    quiet: "No news for a while",
    ended: "Not running",
    finished: "Finished",
    damaged: "The study cannot be read",
    gone: "The server has ended: this is what was known last",
  };
  const SHARE = 0.005; // of this page's time, for drawing whole documents
  let version = first;
  let dueAt = 0; // when a whole document may be drawn again
  let shownState = null;
  let shown = "";

  const status = document.getElementById("live");
  const content = element("div", { class: "content", id: "now-content" });
  const section = element("section", { id: "now", "data-short": "Newest", "aria-labelledby": "now-title", hidden: "" },
    element("h2", { id: "now-title" }, "Newest trials"), content);
  document.getElementById("scores").after(section);

  function showState(name, detail = "") {
    if (name + detail === shownState) return; // it is read out when it changes
    shownState = name + detail;
    status.hidden = false;
    status.dataset.state = name;
    status.textContent = STATES[name] + detail;
  }
  function showNow(now) {
    const { quiet_seconds: quiet, ...known } = now;
    showState(now.state, now.state === "quiet" ? ` (${number(Math.floor(quiet / 60))} min): a long trial, or the run was killed` : "");
    const text = JSON.stringify(known);
    if (text === shown) return;
    shown = text;
    // a document of a damaged study, or of a fit that has ended, knows more than its newest trials
    if (now.state !== "damaged" && now.state !== "finished") comitia.amend({ n_finished: now.n_finished, n_failed: now.n_failed, n_pending: now.n_pending, ...(now.best ? { best: now.best } : {}) });
    const wasHidden = section.hidden;
    section.hidden = !now.newest.length || now.state === "finished";
    if (section.hidden !== wasHidden) comitia.drawContents();
    if (section.hidden) return;
    const hasLearners = now.newest.some((row) => row.learner !== "");
    content.replaceChildren(table("now", { caption: "What ended last, the newest first", rows: now.newest, columns: [
      { key: "number", title: "Trial", kind: "n" },
      hasLearners ? { key: "learner", title: now.learner_name === "learner" ? "Learner" : now.learner_name, kind: "name" } : null,
      { key: "score", title: now.metric, kind: "n", show: (value, row) => row.status === "ok" ? number(value) : row.status },
      now.newest.some((row) => row.seconds) ? { key: "seconds", title: "Time", kind: "n", show: (value) => seconds(value) } : null,
      { key: "settings", title: "Settings", kind: "settings", show: (value, row) => row.error || value },
    ].filter(Boolean) }));
  }
  async function ask() {
    const isDue = performance.now() >= dueAt;
    const answer = await fetch(isDue ? `${url}?version=${version}` : url, { cache: "no-store" });
    if (!answer.ok) throw new Error(`${answer.status}`);
    const news = await answer.json();
    if (news.document) {
      const began = performance.now();
      comitia.draw(news.document);
      shown = ""; // its headline is not as new as what comes with it
      dueAt = performance.now() + (performance.now() - began) / SHARE;
      version = news.version;
    }
    showNow(news.now);
  }
  async function follow() {
    let nFailed = 0;
    for (;;) {
      try {
        if (!document.hidden) await ask();
        nFailed = 0;
      } catch {
        nFailed += 1;
        if (nFailed > 1) showState("gone");
      }
      await new Promise((resume) => setTimeout(resume, 1000 * pause * Math.min(1 + nFailed, 10)));
    }
  }
  follow();
})();
