# Removes the calls of ldconfig that cpack puts into the scripts of the library: its trigger updates the cache.

foreach(package IN LISTS CPACK_PACKAGE_FILES)
  if(package MATCHES "/libpercuss[0-9]+_[^/]*[.]deb$")
    file(REMOVE_RECURSE "${package}.tree")
    execute_process(COMMAND dpkg-deb -R "${package}" "${package}.tree" COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE "${package}.tree/DEBIAN/postinst" "${package}.tree/DEBIAN/postrm")
    execute_process(COMMAND dpkg-deb --root-owner-group -Zxz -b "${package}.tree" "${package}" OUTPUT_QUIET
      COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE_RECURSE "${package}.tree")
  endif()
endforeach()
