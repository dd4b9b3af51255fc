# Completion of errand for PowerShell, which inserts what it is given as it is, and before 7.3 drops empty words.
# To use it, in $PROFILE: errand completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName errand -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object {
        $_.Extent.EndOffset -lt $cursorPosition
    } | ForEach-Object {
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
    })
    $current = $wordToComplete -replace '^[''"]', '' -replace '[''"]$', ''
    $drops = -not (Test-Path variable:PSNativeCommandArgumentPassing) -or $PSNativeCommandArgumentPassing -eq 'Legacy'
    $last = if ($current -eq '' -and $drops) { '""' } else { $current }

    $name = 'errand'; $asks = @()
    $program = Get-Command -Name $name -CommandType Application, ExternalScript -ErrorAction SilentlyContinue | Select-Object -First 1
    if (-not $program) { return }
    $encoding = [Console]::OutputEncoding
    try {
        [Console]::OutputEncoding = [System.Text.Encoding]::UTF8
        $answer = (& $program @asks __complete -- @words $last 2>$null) -join [char]10
    } finally {
        [Console]::OutputEncoding = $encoding
    }
    $mode, $records = $answer.Split([char]0)
    if ($mode -eq 'files') {
        $before = if ($current -match '^(--[^=]*=)') { $Matches[1] } else { '' }
        [System.Management.Automation.CompletionCompleters]::CompleteFilename($current.Substring($before.Length)) | ForEach-Object {
            [System.Management.Automation.CompletionResult]::new($before + $_.CompletionText, $_.ListItemText, $_.ResultType, $_.ToolTip)
        }
        return
    }
    $found = $false
    foreach ($record in $records) {
        if ($record -eq '') { continue }
        $value, $note = $record.Split([char]9, 2)
        $text = $value
        if ($value -notmatch '^[A-Za-z0-9_./:=+-]+$') {
            $text = "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($value) + "'"
        }
        if (-not $note) { $note = $value }
        $found = $true
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $note)
    }
    # Nothing at all would make PowerShell complete files.
    if (-not $found) { '' }
}
