package config

import (
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

// CheckOwner refuses a managed file or folder that others than administrators
// could have written: it and the folder of a file must belong to the system or to
// administrators, and grant writing to nobody else.
func CheckOwner(path string) error {
	all := []string{path}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		all = append(all, filepath.Dir(path))
	}
	for _, p := range all {
		if err := checkSecurity(p); err != nil {
			return err
		}
	}
	return nil
}

// writeRights change a file, its permissions or its owner.
const writeRights = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.DELETE |
	windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_WRITE | windows.GENERIC_ALL

func checkSecurity(path string) error {
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("checking who owns %q: %w", path, err)
	}
	owner, _, err := sd.Owner()
	if err != nil || !isAdministrator(owner) {
		return fmt.Errorf("%q does not belong to administrators; have one of them take ownership", path)
	}
	dacl, _, err := sd.DACL()
	if err != nil || dacl == nil {
		return fmt.Errorf("%q has no access list, so everybody can write it", path)
	}
	for i := range uint32(dacl.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(dacl, i, &ace); err != nil {
			return fmt.Errorf("reading the access list of %q: %w", path, err)
		}
		sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart))
		if ace.Header.AceType == windows.ACCESS_ALLOWED_ACE_TYPE && ace.Mask&writeRights != 0 && !isAdministrator(sid) {
			return fmt.Errorf("%q can be written by %s; leave that right to administrators", path, sid)
		}
	}
	return nil
}

// trustedInstaller owns what the system installed itself.
const trustedInstaller = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

func isAdministrator(sid *windows.SID) bool {
	return sid != nil && (sid.IsWellKnown(windows.WinBuiltinAdministratorsSid) ||
		sid.IsWellKnown(windows.WinLocalSystemSid) ||
		sid.IsWellKnown(windows.WinCreatorOwnerSid) || sid.String() == trustedInstaller)
}
