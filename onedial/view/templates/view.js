// What the viewer adds to pages that are whole without it: the slider of the dial, an address for every state, and a look
// again at what is still going on. Pages are fetched from where this one came from, and only their parts are put in place.
(function () {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const PARTS = ["said", "live"];
  let asked = null, waiting = 0;

  async function load(address, parts) {
    if (asked) asked.abort();
    const mine = (asked = new AbortController());
    try {
      const answer = await fetch(address, { signal: mine.signal });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const id of parts) {
        const here = byId(id), there = page.getElementById(id);
        if (here && there) here.replaceWith(document.adoptNode(there));
      }
      return page;
    } catch (error) {
      if (error.name !== "AbortError") byId("said") && (byId("said").textContent = "The viewer does not answer: is it still running?");
      return null;
    } finally {
      if (asked === mine) asked = null;
    }
  }

  // ---- the dial ----------------------------------------------------------------------------------------------------

  function addressOf(form) {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value !== "") query.append(name, value);
    return location.pathname + "?" + query;
  }

  function turned(form, written) {
    const select = form.elements.magnitude, still = select.selectedOptions[0].dataset.address;
    if (still) {
      if (written) location.href = still + location.hash;
      return;
    }
    const address = addressOf(form);
    if (written && address !== location.pathname + location.search) history.pushState(null, "", address);
    clearTimeout(waiting);
    waiting = setTimeout(() => load(address, PARTS), written ? 0 : 60);
  }

  function connect() {
    const form = byId("dial");
    if (!form) return;
    const select = form.elements.magnitude, slider = form.querySelector("input[type=range]");
    slider.closest("label").hidden = false;
    slider.value = select.selectedIndex;
    const told = () => slider.setAttribute("aria-valuetext", select.selectedOptions[0].textContent);
    told();
    slider.addEventListener("input", () => { select.selectedIndex = Number(slider.value); told(); turned(form, false); });
    slider.addEventListener("change", () => turned(form, true));
    select.addEventListener("change", () => { slider.value = select.selectedIndex; told(); turned(form, true); });
    if (form.elements.target) form.elements.target.addEventListener("change", () => turned(form, true));
    form.addEventListener("submit", (event) => { event.preventDefault(); turned(form, true); });
  }

  window.addEventListener("popstate", async () => {
    if (byId("still")) return;  // a page by itself, which sees to the rest of its address (still.js)
    const page = await load(location.href, []);
    if (!page) return;
    document.querySelector("main").replaceWith(document.adoptNode(page.querySelector("main")));
    connect();
  });
  connect();

  // ---- what is going on --------------------------------------------------------------------------------------------

  function again() {
    const seconds = Number((byId("live") || { dataset: {} }).dataset.again || 0);
    if (seconds) setTimeout(async () => { if (!document.hidden) await load(location.href, ["live"]); again(); }, 1000 * seconds);
  }
  again();
})();
