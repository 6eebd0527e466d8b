// Looks again at what is still going on: the page is fetched from where it came from, and its living part put in place.
(function () {
  "use strict";

  async function again() {
    const here = document.getElementById("live"), seconds = Number((here || { dataset: {} }).dataset.again || 0);
    if (!seconds) return;
    await new Promise((wake) => setTimeout(wake, 1000 * seconds));
    if (!document.hidden) {
      try {
        const answer = await fetch(location.href);
        const page = new DOMParser().parseFromString(await answer.text(), "text/html"), there = page.getElementById("live");
        if (there && there.dataset.again) here.replaceWith(document.adoptNode(there));
        else location.reload();
      } catch {
        here.dataset.silent = "the viewer does not answer";
      }
    }
    again();
  }
  again();
})();
