// What runs in a page. A command is copied at a click. A live page is fetched again every second while it is seen, and
// only what changed is put in place, so that focus, open details and a form being filled in stay as they are. A node with
// an id keeps its identity, and a node that stays is not moved: moving it would lose focus and selection. When the server
// is gone, the page looks for it until it is back.
const root = document.documentElement,
  main = document.querySelector('main'),
  note = document.getElementById('live');
root.classList.add('js');

document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element && target.closest('button.copy');
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.parentElement.querySelector('pre, code').textContent);
    button.textContent = 'Copied';
    button.classList.add('done');
  } catch {
    button.textContent = 'Select and copy';
  }
});

// A page that comes back as it was left has forms that were sent: they are new ones now, but for one that places an order.
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  for (const field of document.querySelectorAll('input[name=once]:not([data-kept])'))
    field.value = crypto.randomUUID();
});

// What comes and goes in such a part takes no room away: it stays as high as it was, until the reader changes that.
const letGo = (part) => part.style.removeProperty('min-height');
const hold = (part) => {
  part.style.minHeight = `${part.offsetHeight}px`;
};
addEventListener('resize', () => main.querySelectorAll('.holds').forEach(letGo));
main.addEventListener(
  'toggle',
  ({ target }) => {
    const part = target.closest('.holds');
    if (part) letGo(part);
  },
  true,
);

// The sandbox's state, in the header of a console page.
const frame = document.getElementById('frame');
const alive = () => frame?.querySelector('.alive');

// Where the keys lead: the first link of each row.
const rows = () =>
  [...main.querySelectorAll('tbody tr')].map((row) => row.querySelector('a')).filter(Boolean);
const results = () => [...document.querySelectorAll('#finder-found :is(a, button)')];

function step(all, by) {
  const at = all.indexOf(document.activeElement);
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by;
  all[Math.max(0, Math.min(all.length - 1, next))]?.focus();
}

const keys = [
  ['/ or Ctrl K', 'find anything, or give a command'],
  ['j, k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Escape', 'leave the search or a row'],
  ['?', 'this list'],
];

function showKeys() {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-label', 'Keys');
  const list = document.createElement('dl');
  for (const [key, does] of keys) {
    const [term, text] = [document.createElement('dt'), document.createElement('dd')];
    const name = document.createElement('kbd');
    name.textContent = key;
    term.append(name);
    text.textContent = does;
    list.append(term, text);
  }
  const close = document.createElement('button');
  close.textContent = 'Close';
  close.addEventListener('click', () => dialog.close());
  dialog.append(list, close);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

const finder = document.querySelector('#finder input');
let found;
function closeFound() {
  found?.remove();
  found = undefined;
}

let asked = 0;
async function find() {
  const text = finder.value.trim();
  const number = ++asked;
  if (text === '') return closeFound();
  await new Promise((resolve) => setTimeout(resolve, 120));
  if (number !== asked) return;
  const response = await fetch(`/console/search?q=${encodeURIComponent(text)}`, {
    headers: { accept: 'text/html' },
    signal: AbortSignal.timeout(5000),
  })
    .then((one) => (one.ok ? one.text() : undefined))
    .catch(() => undefined);
  // What did not come is asked for again, unless other text was typed.
  if (response === undefined) return void setTimeout(() => number === asked && find().catch(() => {}), 1000);
  const page = new DOMParser().parseFromString(response, 'text/html').querySelector('#found');
  if (number !== asked || !page) return;
  // Who has gone into the results opens what is seen there.
  if (found?.contains(document.activeElement)) return;
  if (!found) {
    found = document.createElement('div');
    found.id = 'finder-found';
    found.setAttribute('role', 'region');
    found.setAttribute('aria-label', 'Found');
    found.setAttribute('aria-live', 'polite');
    frame.after(found);
  }
  found.dataset.query = text;
  found.replaceChildren(...[...page.childNodes].map((node) => document.importNode(node, true)));
}

// The button of the command that is typed, once it has been found.
const commandNow = () =>
  found?.dataset.query === finder.value.trim() ? found.querySelector('#commands button') : null;

if (finder) {
  finder.addEventListener('input', () => find().catch(() => {}));
  document.addEventListener('click', ({ target }) => {
    if (found && !found.contains(target) && target !== finder) closeFound();
  });
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    const isTyping = target.matches?.('input:not([type=checkbox]), textarea, select, dialog[open] *');
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const isInFinder = target === finder || found?.contains(target);
    if ((key === 'k' && (event.ctrlKey || event.metaKey)) || (key === '/' && isPlain && !isTyping)) {
      finder.focus();
      finder.select();
    } else if (target === finder && key === 'Enter' && commandNow()) commandNow().click();
    else if (isInFinder && key === 'ArrowDown') step(results(), 1);
    else if (isInFinder && key === 'ArrowUp') step(results(), -1);
    else if (key === 'Escape' && isInFinder) {
      closeFound();
      finder.blur();
    } else if (key === 'Escape' && !isTyping) target.blur?.();
    else if (isPlain && !isTyping && key === 'j') step(rows(), 1);
    else if (isPlain && !isTyping && key === 'k') step(rows(), -1);
    else if (isPlain && !isTyping && key === '?') showKeys();
    else return;
    if (key !== 'Escape') event.preventDefault();
  });
}

const isTheReaders = (node, name) =>
  name === 'style' ||
  (node.nodeName === 'DETAILS' ? name === 'open' : node.matches('input,select,textarea,option'));

function become(node, fetched) {
  if (node.isEqualNode(fetched) || node.matches?.('button.copy.done')) return;
  if (!(node instanceof Element)) {
    node.nodeValue = fetched.nodeValue;
    return;
  }
  for (const { name } of [...node.attributes])
    if (!fetched.hasAttribute(name) && !isTheReaders(node, name)) node.removeAttribute(name);
  for (const { name, value } of fetched.attributes)
    if (node.getAttribute(name) !== value && !isTheReaders(node, name)) node.setAttribute(name, value);
  children(node, fetched);
}

// A form with a field of that name has the field as its property `id`.
const idOf = (node) => node?.getAttribute?.('id');

// Several rows that come at once would push the others away: all are new then, unless the reader holds something there.
const isHeld = (node) =>
  node.contains(document.activeElement) ||
  node.contains(getSelection().anchorNode) ||
  node.querySelector(':checked, [open]');
const isFlooded = (node, fetched, named) =>
  node.localName === 'tbody' &&
  [...fetched.children].filter((child) => idOf(child) && !named.has(idOf(child))).length > 1 &&
  !isHeld(node);

function children(node, fetched) {
  const named = new Map([...node.children].filter(idOf).map((child) => [idOf(child), child]));
  if (isFlooded(node, fetched, named))
    return node.replaceChildren(...[...fetched.childNodes].map((next) => document.importNode(next, true)));
  const stay = new Set([...fetched.children].map(idOf));
  let at = node.firstChild;
  const drop = () => {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  };
  for (const next of fetched.childNodes) {
    const id = idOf(next);
    while (idOf(at) && !stay.has(idOf(at))) drop();
    if (named.has(id)) while (at && at !== named.get(id) && !stay.has(idOf(at))) drop();
    const same = id ? named.get(id) : at && !idOf(at) && at.nodeName === next.nodeName ? at : undefined;
    if (!same) {
      const made = document.importNode(next, true);
      if (id) made.classList.add('arrived');
      node.insertBefore(made, at);
    } else {
      if (same === at) at = at.nextSibling;
      else node.insertBefore(same, at);
      become(same, next);
    }
  }
  while (at) drop();
}

function showAlive(isLive) {
  const shown = alive();
  if (!shown) return;
  shown.textContent = isLive ? 'live' : 'gone';
  shown.classList.toggle('now', isLive);
}

async function look() {
  const response = await fetch(location.href, {
    headers: { accept: 'text/html' },
    cache: 'no-store',
    signal: AbortSignal.timeout(5000),
  });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const found = page.querySelector('main');
  const header = page.getElementById('frame');
  if (!found) throw new Error('no page of the sandbox');
  main.querySelectorAll('.holds').forEach(hold);
  // A feed whose growth was seen stays in its box; one that is whole when the page is opened has none.
  if (main.querySelector('.feed.grows')) found.querySelector('.feed')?.classList.add('grows');
  // Who has read a feed to its end goes on there.
  const atEnd = [...main.querySelectorAll('.feed')].filter(
    (feed) => feed.scrollTop + feed.clientHeight >= feed.scrollHeight - 2,
  );
  become(main, found);
  if (frame && header) become(frame, header);
  showAlive(true);
  for (const feed of atEnd) feed.scrollTop = feed.scrollHeight;
}

async function follow() {
  while (!document.hidden) {
    let wait = 1000;
    try {
      await look();
      note.textContent = '';
    } catch {
      showAlive(false);
      note.textContent = 'The sandbox does not respond; this page goes on once it is back.';
      wait = 2000;
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

if (main.hasAttribute('data-live')) {
  let following = false;
  const begin = async () => {
    if (following) return;
    following = true;
    await follow();
    following = false;
    if (!document.hidden) begin();
  };
  document.addEventListener('visibilitychange', begin);
  // The page is as new as can be: its rows need not move within a moment.
  setTimeout(begin, 1000);
}
