/** An attempt at script injection against anyone who views the order. */
export const hostile = `"><script>alert(1)</script><img src=x onerror="alert(2)">'</pre></details></main><svg/onload=alert(3)>`;
