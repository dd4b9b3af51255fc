/** First three digits of each state's ZIP codes, as ranges or single values. */
const prefixes: Readonly<Record<string, string>> = {
  ...{ AL: '350-369', AK: '995-999', AZ: '850-865', AR: '716-729', CA: '900-961', CO: '800-816' },
  ...{ CT: '060-069', DE: '197-199', DC: '200-205', FL: '320-349', GA: '300-319 398-399', HI: '967-968' },
  ...{ ID: '832-838', IL: '600-629', IN: '460-479', IA: '500-528', KS: '660-679', KY: '400-427' },
  ...{ LA: '700-714', ME: '039-049', MD: '206-219', MA: '010-027 055', MI: '480-499', MN: '550-567' },
  ...{ MS: '386-397', MO: '630-658', MT: '590-599', NE: '680-693', NV: '889-898', NH: '030-038' },
  ...{ NJ: '070-089', NM: '870-884', NY: '005 063 100-149', NC: '270-289', ND: '580-588', OH: '430-459' },
  ...{ OK: '730-749', OR: '970-979', PA: '150-196', RI: '028-029', SC: '290-299', SD: '570-577' },
  ...{ TN: '370-385', TX: '733 750-799 885', UT: '840-847', VT: '050-059', VA: '201 220-246' },
  ...{ WA: '980-994', WV: '247-268', WI: '530-549', WY: '820-831', PR: '006-009', VI: '008' },
  ...{ AS: '967', GU: '969', MP: '969', AA: '340', AE: '090-098', AP: '962-966' },
};

let states: ReadonlyMap<number, readonly string[]> | undefined;

function statesByPrefix(): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>();
  for (const [state, text] of Object.entries(prefixes))
    for (const range of text.split(' ')) {
      const [first = '', last = first] = range.split('-');
      for (let prefix = Number(first); prefix <= Number(last); prefix += 1) {
        const known = found.get(prefix);
        if (known) known.push(state);
        else found.set(prefix, [state]);
      }
    }
  return found;
}

/** States with ZIP codes that begin with the same three digits; empty if there are none. */
export function statesOfZip(zip: string): readonly string[] {
  states ??= statesByPrefix();
  return /^\d{5}/.test(zip) ? (states.get(Number(zip.slice(0, 3))) ?? []) : [];
}
