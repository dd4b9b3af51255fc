/** What someone would type to run a script in whoever looks at their order. */
export const hostile = `"><script>alert(1)</script><img src=x onerror="alert(2)">'</pre></details></main><svg/onload=alert(3)>`;
